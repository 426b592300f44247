import { fstatSync, writeSync } from 'node:fs';

/**
 * Blocking, so that the process may end right after, and a full pipe is waited for. False once nobody reads any more.
 * Throws the system's error where the bytes cannot be kept (a full disk, a closed descriptor).
 */
export function writeAll(fd: number, data: Buffer): boolean {
  for (let written = 0; written < data.length; ) {
    try {
      written += writeSync(fd, data, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else if (code === 'EPIPE') return false;
      else throw error;
    }
  }
  return true;
}

/** A terminal that a person looks at. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/** Where a command that writes as it goes writes to. */
export interface Output {
  /** The terminal behind stdout; undefined for a pipe or a file. */
  screen(): Screen | undefined;
  /** To stdout, at once. False once nobody reads any more. */
  write(data: string | Buffer): boolean;
}

/** Asked of the descriptor first: the stream of Node's would be made only for the question, which takes time. */
function mayBeTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    // Closed: nobody looks.
    return false;
  }
}

export const standardOutput: Output = {
  screen: () => {
    if (!mayBeTerminal(1) || !process.stdout.isTTY) return undefined;
    const { NO_COLOR, TERM } = process.env;
    // Of a terminal that does not tell its size (0 columns) the usual one is assumed.
    return {
      columns: process.stdout.columns || 80,
      rows: process.stdout.rows || 24,
      colours: !NO_COLOR && TERM !== 'dumb',
    };
  },
  write: (data) => writeAll(1, Buffer.from(data)),
};
