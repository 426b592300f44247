import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, RunnerError } from '../errors.ts';
import { platform } from '../platform/index.ts';
import { patiently, renameOver } from './patient.ts';

/** Not a link, and a FIFO or device without waiting for its other end (open(2)). Windows has neither flag. */
const OPEN_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const OPEN_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const CHUNK_BYTES = 64 * 1024;

/**
 * Opens a file of the user's for reading and gives `use` the descriptor, after the opened descriptor was checked to be a
 * regular file that the user owns. Throws a `refused` RunnerError for anything else that lies there, and the system's
 * ENOENT where nothing does.
 */
export function withOwnedFile<T>(path: string, use: (fd: number, stat: Stats) => T): T {
  let fd: number;
  try {
    fd = openPlain(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof RunnerError) throw error;
    throw refusal(path, `cannot be opened as a plain file (${errnoOf(error) ?? 'unknown error'})`, error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refusal(path, 'not a regular file');
    if (!platform.ownsDescriptor(fd, stat)) throw refusal(path, 'not owned by the current user');
    return use(fd, stat);
  } finally {
    closeSync(fd);
  }
}

/** A file that is just being replaced on Windows cannot be opened for a moment. */
const TAKEN_BUDGET_MS = 150;
/** How often a file may be replaced between two looks at it. */
const REPLACED_ATTEMPTS = 20;

/** Opens what lies at `path` itself. Windows has no flag for that: the opened file is compared with what lies there. */
function openPlain(path: string): number {
  if (platform.kind === 'posix') return openSync(path, OPEN_READ);
  for (let attempt = 0; attempt < REPLACED_ATTEMPTS; attempt += 1) {
    const there = patiently(() => lstatSync(path, { bigint: true }), TAKEN_BUDGET_MS);
    if (!there.isFile()) throw refusal(path, 'not a regular file');
    const fd = patiently(() => openSync(path, OPEN_READ), TAKEN_BUDGET_MS);
    const opened = fstatSync(fd, { bigint: true });
    if (opened.ino === there.ino && opened.dev === there.dev) return fd;
    closeSync(fd);
  }
  throw refusal(path, 'replaced again and again');
}

function refusal(path: string, why: string, cause?: unknown): RunnerError {
  return new RunnerError('refused', `${path}: ${why}; refusing to read it`, { cause });
}

/** Reads a whole file of the user's. Refused beyond `capBytes`, also if it grows past that while it is read. */
export function readOwned(path: string, capBytes: number): Buffer {
  return withOwnedFile(path, (fd, stat) => {
    const over = (bytes: number): RunnerError =>
      refusal(path, `${bytes} bytes exceed the cap of ${capBytes} bytes`);
    if (stat.size > capBytes) throw over(stat.size);
    const chunks: Buffer[] = [];
    let total = 0;
    // One byte more than there seems to be: then the first read comes to the end.
    for (let askedBytes = Math.min(stat.size + 1, CHUNK_BYTES); ; askedBytes = CHUNK_BYTES) {
      const chunk = readAt(fd, total, askedBytes, stat.size);
      chunks.push(chunk);
      total += chunk.length;
      if (total > capBytes) throw over(total);
      if (chunk.length < askedBytes) return chunks.length === 1 ? chunk : Buffer.concat(chunks);
    }
  });
}

/** The last `maxBytes` of a file of the user's, or all of it, and whether it was all. */
export function readOwnedEnd(path: string, maxBytes: number): { data: Buffer; whole: boolean } {
  return withOwnedFile(path, (fd, { size }) => ({
    data: readAt(fd, Math.max(0, size - maxBytes), Math.min(size, maxBytes), size),
    whole: size <= maxBytes,
  }));
}

/** One page of a file of the user's, and its size when it was opened. All in bytes. */
export function readOwnedPage(
  path: string,
  offset: number,
  maxBytes: number,
): { data: Buffer; totalBytes: number } {
  return withOwnedFile(path, (fd, { size }) => ({
    data: readAt(fd, offset, maxBytes, size),
    totalBytes: size,
  }));
}

/** Up to `maxBytes`. What is `sizeBytes` long is not asked for more once it was read to its end. */
function readAt(fd: number, offset: number, maxBytes: number, sizeBytes: number): Buffer {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const got = readSync(fd, buffer, length, maxBytes - length, offset + length);
    length += got;
    if (got === 0 || offset + length === sizeBytes) break;
  }
  return buffer.subarray(0, length);
}

/** write(2) may write less than it was given, most of all on a disk that fills up. */
function writeAll(fd: number, data: Buffer): void {
  for (let written = 0; written < data.length; ) written += writeSync(fd, data, written);
}

/** Creates a file that must not exist yet. Throws EEXIST if it does; leaves nothing behind on any other failure. */
export function createExclusive(path: string, data: Buffer | string): void {
  const fd = openSync(path, OPEN_NEW, 0o600);
  try {
    writeAll(fd, Buffer.from(data));
  } catch (error) {
    unlinkQuietly(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** A name in `dir` that nobody else takes: swept up with the job's terminal record. */
export function temporaryIn(dir: string): string {
  return join(dir, `.tmp-${process.pid}-${process.hrtime.bigint()}`);
}

/** Writes a new file beside `path`, complete and on the disk, and gives its path. */
function writeBeside(path: string, data: Buffer | string, durable: boolean): string {
  const temporary = temporaryIn(dirname(path));
  const fd = openSync(temporary, OPEN_NEW, 0o600);
  try {
    writeAll(fd, Buffer.from(data));
    if (durable) fsyncSync(fd);
    return temporary;
  } catch (error) {
    unlinkQuietly(temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file as a whole: readers see the old one or the new one. `durable`: on the disk before it is seen. */
export function replaceFile(path: string, data: Buffer | string, options: { durable: boolean }): void {
  const temporary = writeBeside(path, data, options.durable);
  try {
    renameOver(temporary, path);
  } catch (error) {
    unlinkQuietly(temporary);
    throw error;
  }
}

/** Makes the directory's own entries durable (fsync(2)); Windows has no such call for directories. */
export function syncDirectory(path: string): void {
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

/** How link(2) answers on a file system without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Creates a file complete with its content, or throws EEXIST: of several racing callers exactly one succeeds. Where
 * there are no hard links, a reader may come between the name and its content.
 */
export function claimFile(path: string, data: Buffer | string): void {
  const temporary = writeBeside(path, data, false);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error) ?? '')) throw error;
    createExclusive(path, data);
  } finally {
    unlinkQuietly(temporary);
  }
}

/** Names in a directory; none where it is gone, closed to us, or no directory. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // Whoever asks looks for something of ours: there is nothing of it there.
    return [];
  }
}

export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or a disk that refuses: whoever sweeps the directory takes it along.
  }
}

/** Removes a job directory in which nothing was ever started. */
export function removeJobDir(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Removes a directory unless there is something in it. */
export function removeEmptyDir(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not empty, or gone: a sweep takes it along.
  }
}

export function lstatIfAny(path: string): Stats | undefined {
  try {
    // No exception for what is just not there: those cost more than the call.
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
