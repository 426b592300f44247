/** What lies in the directory of a job that an engine runs, beside what every job has. */
import { closeSync, constants, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { type EngineClaim, type EngineRecord, engineClaim, engineRecord } from '../job/records.ts';
import { META_READ_CAP, RECORD_READ_CAP } from '../limits.ts';
import { fileOf, readRecord } from './job-dir.ts';
import {
  claimFile,
  createExclusive,
  lstatIfAny,
  readOwned,
  readOwnedPage,
  replaceFile,
  syncDirectory,
  temporaryIn,
  unlinkQuietly,
  withOwnedFile,
} from './owned-file.ts';

const CLAIM = 'engine-claim';
const HEARTBEAT = 'heartbeat';
const REAP_MARKER = '.reap';
const OUTPUT = 'engine.log';
/** Tidied away with the record of the end, if nobody has read it until then. */
const LAUNCH_SPEC = '.launch-spec';

/** Of what an engine has printed, as much as tells why it ended a job. */
const OUTPUT_TAIL_BYTES = 4096;
/** An environment may be as long as all arguments together (execve(2)): the longest start that can be recorded, twice. */
const SPEC_READ_CAP = 2 * META_READ_CAP;

export function readEngine(jobDir: string): EngineRecord | undefined {
  return readRecord(engineRecord, fileOf(jobDir, 'engine'), RECORD_READ_CAP);
}

/** Marks a job as given to an engine before it is: from then on it counts as detached. Throws EEXIST for a second one. */
export function markSubmitting(jobDir: string, record: EngineRecord): void {
  createExclusive(fileOf(jobDir, 'engine'), `${JSON.stringify(record)}\n`);
  // Other readers go by `pid`. No number in it is one of this machine's.
  createExclusive(fileOf(jobDir, 'pid'), `${JSON.stringify({ engine: record.engine })}\n`);
  syncDirectory(jobDir);
}

/** On the disk before anybody is told of it. */
export function recordSubmission(jobDir: string, record: EngineRecord): void {
  replaceFile(fileOf(jobDir, 'engine'), `${JSON.stringify(record)}\n`, { durable: true });
  syncDirectory(jobDir);
}

/** Takes the marks back from a job that the engine refused: it was never detached. */
export function unmarkSubmitting(jobDir: string, reason: string): void {
  // First, since it holds the environment, and since the disk may have no room for the reason.
  dropLaunchSpec(jobDir);
  for (const path of [fileOf(jobDir, 'pid'), fileOf(jobDir, 'engine')]) unlinkQuietly(path);
  replaceFile(fileOf(jobDir, 'reason'), `${reason}\n`, { durable: false });
}

/** True for exactly one of all who may run a job or settle it unrun. The claim is never given back. */
export function takeClaim(jobDir: string, claim: EngineClaim): boolean {
  try {
    claimFile(join(jobDir, CLAIM), `${JSON.stringify(claim)}\n`);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

export function readClaim(jobDir: string): EngineClaim | undefined {
  return readRecord(engineClaim, join(jobDir, CLAIM), RECORD_READ_CAP);
}

/** For the supervisor alone: it carries the environment. */
export function writeLaunchSpec(jobDir: string, spec: string): void {
  createExclusive(join(jobDir, LAUNCH_SPEC), spec);
  // The engine would make it for others to read.
  createExclusive(join(jobDir, OUTPUT), '');
}

export function dropLaunchSpec(jobDir: string): void {
  unlinkQuietly(join(jobDir, LAUNCH_SPEC));
}

/** The spec, which is gone from the disk with this. */
export function takeLaunchSpec(jobDir: string): string {
  const path = join(jobDir, LAUNCH_SPEC);
  const spec = readOwned(path, SPEC_READ_CAP).toString('utf8');
  dropLaunchSpec(jobDir);
  return spec;
}

/** Written, not touched: then the file server stamps it with its own time, whatever the clock of this host says. */
export function beat(jobDir: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const fd = openSync(join(jobDir, HEARTBEAT), flags, 0o600);
  try {
    writeSync(fd, text, 0);
  } finally {
    closeSync(fd);
  }
}

/**
 * Milliseconds since the last heartbeat, the claim being the first; undefined where there is none. `exact` by the file server's clock, which takes
 * a write; else by that of this host.
 */
export function heartbeatAgeMs(jobDir: string, { exact }: { exact: boolean }): number | undefined {
  try {
    const beatMs = openedMtimeMs(join(jobDir, HEARTBEAT)) ?? openedMtimeMs(join(jobDir, CLAIM));
    return beatMs === undefined ? undefined : (exact ? serverNowMs(jobDir) : Date.now()) - beatMs;
  } catch {
    return undefined;
  }
}

/** Opened, not only looked at: a network file system asks its server anew then (nfs(5), close-to-open). */
function openedMtimeMs(path: string): number | undefined {
  try {
    return withOwnedFile(path, (_fd, stat) => stat.mtimeMs);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Milliseconds since a job was given to the engine, or its record last changed, by the file server's clock. */
export function submittingAgeMs(jobDir: string): number | undefined {
  const stat = lstatIfAny(fileOf(jobDir, 'engine'));
  return stat === undefined ? undefined : Math.abs(serverNowMs(jobDir) - stat.mtimeMs);
}

function serverNowMs(jobDir: string): number {
  const path = temporaryIn(jobDir);
  try {
    createExclusive(path, '.');
    return lstatIfAny(path)?.mtimeMs ?? Date.now();
  } catch {
    // A full or read-only disk: this host's clock has to do.
    return Date.now();
  } finally {
    unlinkQuietly(path);
  }
}

/** Asks whoever supervises the job to reap it. */
export function askToReap(jobDir: string): void {
  replaceFile(join(jobDir, REAP_MARKER), 'reap\n', { durable: false });
}

export function isAskedToReap(jobDir: string): boolean {
  refresh(jobDir);
  return lstatIfAny(join(jobDir, REAP_MARKER)) !== undefined;
}

/** Makes a network file system ask its server what is in the directory: what was not there before may be by now. */
export function refresh(jobDir: string): void {
  try {
    readdirSync(jobDir);
  } catch {
    // Gone, or closed to us: the next look says so.
  }
}

/** The end of what the engine itself printed for the job. */
export function engineOutput(jobDir: string): string {
  try {
    const path = join(jobDir, OUTPUT);
    const { size } = withOwnedFile(path, (_fd, stat) => stat);
    return readOwnedPage(path, Math.max(0, size - OUTPUT_TAIL_BYTES), OUTPUT_TAIL_BYTES).data.toString(
      'utf8',
    );
  } catch {
    return '';
  }
}
