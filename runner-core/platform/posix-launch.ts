import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { RunnerError } from '../errors.ts';

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // That is the answer.
    return false;
  }
}

/** confstr(_CS_PATH) of the common systems: what execvp(3) searches when there is no PATH. */
const FALLBACK_PATH = '/bin:/usr/bin';

function findOnPath(name: string, cwd: string, path: string | undefined): string | undefined {
  // Access is asked first: a folder that is closed to us is one without the program, as for execvp(3).
  return (path ?? FALLBACK_PATH)
    .split(delimiter)
    .map((dir) => join(resolve(cwd, dir), name))
    .find((candidate) => isExecutable(candidate) && isFile(candidate));
}

/**
 * The argv with its program as an absolute path. A name without a slash is looked up in the worker's PATH; a path is
 * taken from the worker's folder. Throws a preflight error that says what is wrong with the program.
 */
export function resolvePosixWorker(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): string[] {
  const [program = '', ...rest] = argv;
  const complain = (problem: string): RunnerError =>
    new RunnerError('preflight', `worker ${JSON.stringify(program)} ${problem}`);
  if (!program.includes('/')) {
    const found = findOnPath(program, cwd, env.PATH);
    if (found === undefined) throw complain('was not found on PATH; give its absolute path or install it');
    return [found, ...rest];
  }
  const path = resolve(cwd, program);
  if (!isFile(path)) throw complain('does not exist or is not a regular file; check the path');
  if (!isExecutable(path)) throw complain('is not executable; chmod +x it or name its interpreter first');
  return [path, ...rest];
}

/**
 * execvp(3) hands a file of unknown format to /bin/sh. A worker never runs through a shell, so text without an
 * interpreter line is refused here, as execve(2) would with ENOEXEC.
 */
export function assertExecutableFormat(path: string): void {
  const head = Buffer.alloc(256);
  let length: number;
  try {
    const fd = openSync(path, 'r');
    try {
      length = readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Executable but not readable: the system will judge.
    return;
  }
  if (head.toString('latin1', 0, 2) === '#!' || head.subarray(0, length).includes(0)) return;
  throw new RunnerError(
    'preflight',
    `Exec format error: ${path} is neither a program nor a script with a #! line`,
  );
}
