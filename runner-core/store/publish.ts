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
import { fileOf, recordedState } from './job-dir.ts';
import { createExclusive, unlinkQuietly } from './owned-file.ts';

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

/** Writes `text` into the space reserved for it, or into a new file where none was, and gives its path. */
function stage(jobDir: string, part: Part, text: string): string {
  const path = reservePath(jobDir, part);
  const data = Buffer.from(text);
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    for (let written = 0; written < data.length; ) {
      written += writeSync(fd, data, written, data.length - written, written);
    }
    ftruncateSync(fd, data.length);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return path;
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
 * left as it is. An empty or torn `status`, or something planted in its place, is no record and is replaced.
 * Throws the system's error where the disk refuses; then nothing was published.
 */
export function publish(jobDir: string, verdict: Verdict, outcome: OutcomeRecord): boolean {
  if (isTerminal(recordedState(jobDir))) return false;
  const reason = stage(jobDir, 'reason', `${verdict.reason.replaceAll(/[\r\n]+/g, ' ')}\n`);
  const details = stage(jobDir, 'outcome', `${JSON.stringify(outcome, null, 2)}\n`);
  const word = stage(jobDir, 'status', `${verdict.state}\n`);
  renameSync(reason, fileOf(jobDir, 'reason'));
  renameSync(details, fileOf(jobDir, 'outcome'));
  const published = place(word, jobDir);
  syncDirectory(jobDir);
  announce(jobDir);
  tidy(jobDir);
  return published;
}

/** link(2) makes `status` exist with its content, and fails if it exists: the one step that decides a race. */
function place(staged: string, jobDir: string): boolean {
  const path = fileOf(jobDir, 'status');
  try {
    linkSync(staged, path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST' && isTerminal(recordedState(jobDir))) return false;
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
