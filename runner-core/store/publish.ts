import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import type { OutcomeRecord } from '../job/records.ts';
import { isTerminal, type Verdict } from '../job/state.ts';
import { fileOf, readOutcome, recordedState } from './job-dir.ts';
import { createExclusive, temporaryIn, unlinkQuietly } from './owned-file.ts';

type Part = 'reason' | 'outcome' | 'status';

/** Space for the terminal record is taken at the start, so that a full disk can still be told of. */
const RESERVED_BYTES: Readonly<Record<Part, number>> = { reason: 2048, outcome: 8192, status: 64 };

function reservePath(jobDir: string, part: Part): string {
  return join(jobDir, `.reserve-${part}`);
}

/** Takes the space that the terminal record will need. Throws the system's error (ENOSPC) if it is not there. */
export function reserveSpace(jobDir: string): void {
  for (const part of ['reason', 'outcome', 'status'] as const) {
    createExclusive(reservePath(jobDir, part), Buffer.alloc(RESERVED_BYTES[part], 0x20));
  }
}

/**
 * Writes `text` into the space reserved for it, or into a new file where none was, and gives its path. Nobody else has
 * that file: one who was stopped while he wrote must not, when he goes on, write into what others have published.
 */
function stage(jobDir: string, part: Part, text: string): string {
  const path = temporaryIn(jobDir);
  try {
    renameSync(reservePath(jobDir, part), path);
  } catch (error) {
    // The reference reserves nothing, and another one who publishes may have been faster.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  const data = Buffer.from(text);
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    for (let written = 0; written < data.length; ) {
      written += writeSync(fd, data, written, data.length - written, written);
    }
    ftruncateSync(fd, data.length);
    fsyncSync(fd);
    return path;
  } catch (error) {
    giveBack(path, reservePath(jobDir, part));
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** The next try needs the space again. */
function giveBack(path: string, reserved: string): void {
  try {
    renameSync(path, reserved);
  } catch {
    // The directory is gone, or the disk refuses that too.
  }
}

/** Makes the directory's own entries durable (fsync(2)); Windows has no such call for directories. */
function syncDirectory(path: string): void {
  try {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Not offered by this system or file system: the rename is still atomic.
  }
}

/**
 * Writes the terminal record, `status` last, durably, once: false where another record stands already, which is then
 * left as it is. `outcome.json` decides between several who publish at once: it is never replaced, and whoever finds
 * one goes on with what it says. An empty or torn `status` or outcome, or something planted in its place, is no record
 * and is replaced. Throws the system's error where the disk refuses; then nothing was published.
 */
export function publish(jobDir: string, verdict: Verdict, outcome: OutcomeRecord): boolean {
  if (isTerminal(recordedState(jobDir))) return false;
  const details = stage(jobDir, 'outcome', `${JSON.stringify(outcome, null, 2)}\n`);
  const decided = place(details, fileOf(jobDir, 'outcome'), () => readOutcome(jobDir) !== undefined);
  const { state, reason } = decided ? verdict : (readOutcome(jobDir) ?? verdict);
  renameSync(stage(jobDir, 'reason', `${reason.replaceAll(/[\r\n]+/g, ' ')}\n`), fileOf(jobDir, 'reason'));
  const word = stage(jobDir, 'status', `${state}\n`);
  const published = place(word, fileOf(jobDir, 'status'), () => isTerminal(recordedState(jobDir)));
  syncDirectory(jobDir);
  announce(jobDir);
  tidy(jobDir);
  return published;
}

/** link(2) makes a file exist with its content, and fails if it exists: true for exactly one of any number of callers. */
function place(staged: string, path: string, stands: () => boolean): boolean {
  try {
    linkSync(staged, path);
    unlinkQuietly(staged);
    return true;
  } catch {
    if (stands()) {
      unlinkQuietly(staged);
      return false;
    }
    // What lies there is no record, or this file system knows no hard links.
    renameSync(staged, path);
    return true;
  }
}

/** Waiters watch `pid`, since the log beside it may be written without end. */
function announce(jobDir: string): void {
  const now = new Date();
  try {
    utimesSync(fileOf(jobDir, 'pid'), now, now);
  } catch {
    // They also look by themselves.
  }
}

/** Gives reserved space back where no worker came to be. */
export function releaseSpace(jobDir: string): void {
  for (const part of ['reason', 'outcome', 'status'] as const) unlinkQuietly(reservePath(jobDir, part));
}

/** Removes what was only needed on the way to the record. */
function tidy(jobDir: string): void {
  for (const name of readdirSync(jobDir)) {
    if (/^\.(reserve|lease|tmp)-/.test(name)) unlinkQuietly(join(jobDir, name));
  }
}
