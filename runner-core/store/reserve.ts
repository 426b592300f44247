import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileOf } from './job-dir.ts';
import { createExclusive, temporaryIn, unlinkQuietly } from './owned-file.ts';
import { renameOver } from './patient.ts';

/**
 * Space is taken before there is a worker for whatever must be written once it runs: a worker may fill the disk, and be
 * faster than its supervisor.
 */
const RESERVED_BYTES = { pid: 2048, reason: 2048, outcome: 8192, status: 64 };

export type Reserved = keyof typeof RESERVED_BYTES;

const ALL = ['pid', 'reason', 'outcome', 'status'] as const;

/** No link is followed, no FIFO waited for (open(2)). Windows has neither flag. */
const NO_SURPRISE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function reservePath(jobDir: string, part: Reserved): string {
  return join(jobDir, `.reserve-${part}`);
}

/** Takes the space that the records will need. Throws the system's error (ENOSPC) if it is not there. */
export function reserveSpace(jobDir: string): void {
  for (const part of ALL) {
    createExclusive(reservePath(jobDir, part), Buffer.alloc(RESERVED_BYTES[part], 0x20));
  }
}

/** Gives reserved space back where no worker came to be. */
export function releaseSpace(jobDir: string): void {
  for (const part of ALL) unlinkQuietly(reservePath(jobDir, part));
}

/**
 * The space reserved for a part, or a new file where there is none or something else was planted there. Nobody else has
 * that file: one who was stopped while he wrote must not, when he goes on, write into what others have published.
 */
export function takeSpace(jobDir: string, part: Reserved): { path: string; fd: number } {
  const path = temporaryIn(jobDir);
  try {
    renameOver(reservePath(jobDir, part), path);
    const fd = openSync(path, constants.O_RDWR | NO_SURPRISE);
    if (fstatSync(fd).isFile()) return { path, fd };
    closeSync(fd);
  } catch {
    // The reference reserves nothing, and another one who publishes may have been faster.
    giveSpaceBack(jobDir, part, path);
  }
  const fresh = temporaryIn(jobDir);
  return {
    path: fresh,
    fd: openSync(fresh, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_SURPRISE, 0o600),
  };
}

/** The next try needs the space again. */
export function giveSpaceBack(jobDir: string, part: Reserved, path: string): void {
  try {
    renameOver(path, reservePath(jobDir, part));
  } catch {
    // The directory is gone, or the disk refuses that too.
  }
}

export function writeWhole(fd: number, data: Buffer): void {
  for (let written = 0; written < data.length; ) {
    written += writeSync(fd, data, written, data.length - written, written);
  }
  ftruncateSync(fd, data.length);
}

/** Replaces the `pid` record as a whole, in the space reserved for that. */
export function rewritePid(jobDir: string, text: string): void {
  const { path, fd } = takeSpace(jobDir, 'pid');
  try {
    try {
      writeWhole(fd, Buffer.from(text));
    } finally {
      closeSync(fd);
    }
    renameOver(path, fileOf(jobDir, 'pid'));
  } catch (error) {
    unlinkQuietly(path);
    throw error;
  }
}
