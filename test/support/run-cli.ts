import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { type Argv, commandOf, type SideName } from './programs.ts';

export interface CliRun {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Null when a signal ended it. */
  readonly code: number | null;
}

export interface RunOptions {
  /** The whole environment; `cleanEnv()` when not given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Octal, as the shell's `umask` takes it. */
  readonly umask?: string;
  readonly timeoutMs?: number;
}

/** It did not end, or left a pipe of its own open, within its time. */
export class CliTimeout extends Error {
  override readonly name = 'CliTimeout';
}

const FOREIGN =
  /^(CE_PEER_|CE_WORK_|CROSS_MODEL_|PEER_JOBS_|VITEST|npm_|(NODE_OPTIONS|NODE_ENV|BASE_URL|DEV|MODE|PROD|SSR|TEST|FORCE_TTY)$)/;

/** This process's environment without anything that steers a job runner or the test runner, plus `extra`. */
export function cleanEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !FOREIGN.test(name)) env[name] = value;
  }
  return { ...env, ...extra };
}

/** Runs one of the two command lines with these arguments. */
export function runCli(side: SideName, args: readonly string[], options: RunOptions = {}): Promise<CliRun> {
  return runProgram([...commandOf(side), ...args], options);
}

/**
 * Runs a program until it has ended and all its output pipes are closed: a descendant that keeps one of them open makes
 * this fail with a `CliTimeout`, which is what tells a leaked descriptor.
 */
export async function runProgram(argv: Argv, options: RunOptions = {}): Promise<CliRun> {
  const timeoutMs = options.timeoutMs ?? 90_000;
  const [file, ...args] = options.umask
    ? (['/bin/sh', '-c', `umask ${options.umask}; exec "$@"`, 'sh', ...argv] as const)
    : argv;
  const running = execa(file, args, {
    env: options.env ?? cleanEnv(),
    extendEnv: false,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdin: 'ignore',
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    maxBuffer: Number.MAX_SAFE_INTEGER,
  });
  let exited = false;
  running.once('exit', () => {
    exited = true;
  });
  const late = new AbortController();
  const ended = await Promise.race([running, sleep(timeoutMs, undefined, { signal: late.signal })]);
  late.abort();
  if (ended === undefined) {
    running.kill('SIGKILL');
    running.stdout.destroy();
    running.stderr.destroy();
    const what = exited ? 'has ended, but a pipe of it is still open' : 'has not ended';
    const { stderr } = await running;
    throw new CliTimeout(
      `after ${timeoutMs} ms ${argv.join(' ')} ${what}; stderr: ${Buffer.from(stderr).toString('utf8')}`,
    );
  }
  if (ended.code !== undefined && ended.exitCode === undefined && ended.signal === undefined) {
    throw new Error(ended.message, { cause: ended });
  }
  return {
    stdout: Buffer.from(ended.stdout),
    stderr: Buffer.from(ended.stderr).toString('utf8'),
    code: ended.exitCode ?? null,
  };
}
