import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errnoOf, RunnerError } from '../errors.ts';
import {
  type MetaRecord,
  metaRecord,
  type OutcomeRecord,
  outcomeRecord,
  type PidRecord,
  pidRecord,
} from '../job/records.ts';
import { type Shape, shaped } from '../job/shape.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { META_READ_CAP, REASON_READ_CAP, RECORD_READ_CAP, STATUS_READ_CAP } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { lstatIfAny, readOwned } from './owned-file.ts';
import { recalling } from './recall.ts';

/** The files of a job directory; contract §1. */
export const FILES = {
  meta: 'meta.json',
  pid: 'pid',
  log: 'out.log',
  reason: 'reason',
  outcome: 'outcome.json',
  status: 'status',
  engine: 'engine.json',
} as const;

export function fileOf(jobDir: string, file: keyof typeof FILES): string {
  return join(jobDir, FILES[file]);
}

/** True for a real directory of the user's; nothing inside any other is trusted. */
export function isOwnJobDir(jobDir: string): boolean {
  try {
    const stat = lstatSync(jobDir);
    return stat.isDirectory() && platform.ownsPath(jobDir, stat);
  } catch (error) {
    // The machine lacks what it takes to look: no answer at all.
    if (error instanceof RunnerError) throw error;
    // Not there, or closed to us.
    return false;
  }
}

/** The state that the directory tells, without asking whether anybody still works on it. */
export function recordedState(jobDir: string): JobState {
  if (!isOwnJobDir(jobDir)) return 'unreadable';
  try {
    // Asked first, since most often it is not there.
    if (!lstatIfAny(fileOf(jobDir, 'status'))) return recordedBeforeEnd(jobDir);
    const word = readOwned(fileOf(jobDir, 'status'), STATUS_READ_CAP).toString('utf8').trim();
    return isTerminal(word) ? word : 'unreadable';
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? recordedBeforeEnd(jobDir) : 'unreadable';
  }
}

function recordedBeforeEnd(jobDir: string): JobState {
  try {
    const isDetached = lstatIfAny(fileOf(jobDir, 'pid')) ?? lstatIfAny(fileOf(jobDir, 'engine'));
    return isDetached ? 'running' : 'never-started';
  } catch {
    // Neither there nor absent: a sanity check failed.
    return 'unreadable';
  }
}

/** The parsed record, or undefined where it is absent, refused, or not what such a record looks like. */
export function readRecord<T>(shape: Shape<T>, path: string, capBytes: number): T | undefined {
  try {
    return shaped(shape, parseRecord(readOwned(path, capBytes).toString('utf8')));
  } catch {
    // Absent, refused or torn: the caller goes on with what else is known.
    return undefined;
  }
}

/** The reference writes a window that was set to `inf` as Python does: a word that is no JSON. */
function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!text.includes('Infinity')) throw error;
    return JSON.parse(
      text.replaceAll(/"(?:[^"\\]+|\\.)*"|\bInfinity\b/g, (token) =>
        token.startsWith('"') ? token : '1e308',
      ),
    );
  }
}

const metaAt = recalling((path) => readRecord(metaRecord, path, META_READ_CAP));
const pidAt = recalling((path) => readRecord(pidRecord, path, RECORD_READ_CAP));

export function readMeta(jobDir: string): MetaRecord | undefined {
  return metaAt(fileOf(jobDir, 'meta'));
}

export function readPid(jobDir: string): PidRecord | undefined {
  return pidAt(fileOf(jobDir, 'pid'));
}

export function readOutcome(jobDir: string): OutcomeRecord | undefined {
  return readRecord(outcomeRecord, fileOf(jobDir, 'outcome'), RECORD_READ_CAP);
}

/** Like `readMeta`, where the caller cannot go on without it: refusals keep their reason. */
export function requireMeta(jobDir: string): MetaRecord {
  const path = fileOf(jobDir, 'meta');
  let text: string;
  try {
    text = readOwned(path, META_READ_CAP).toString('utf8');
  } catch (error) {
    if (error instanceof RunnerError) throw error;
    throw new RunnerError(
      'refused',
      `cannot read job metadata ${path}: ${errnoOf(error) ?? 'unknown error'}`,
    );
  }
  const meta = readMeta(jobDir);
  if (!meta)
    throw new RunnerError(
      'refused',
      `cannot read job metadata ${path}: not a valid record (${text.length} characters)`,
    );
  return meta;
}

/** The detail line of the terminal record, or ''. Decoration: no failure to read it matters. */
export function readReason(jobDir: string): string {
  try {
    return readOwned(fileOf(jobDir, 'reason'), REASON_READ_CAP).toString('utf8').trim();
  } catch {
    return '';
  }
}

/** Epoch ms of the start: as recorded, else the time stamp of the record. */
export function startedAtMs(jobDir: string, meta: MetaRecord | undefined): number | undefined {
  const recorded = Date.parse(meta?.started_at ?? '');
  return Number.isNaN(recorded) ? lstatIfAny(fileOf(jobDir, 'meta'))?.mtimeMs : recorded;
}

export function jobIdOf(jobDir: string): string {
  return basename(jobDir);
}
