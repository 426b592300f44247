import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../errors.ts';

/** How a program of an engine ended, and what it said. */
export interface Ran {
  readonly outcome: 'exited' | 'timed-out' | 'missing';
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** All of a user's jobs may be listed at once. */
const OUTPUT_MAX_CHARS = 64 * 1024 * 1024;
/** What a program that was killed may still have left in its pipes is not waited for longer. */
const AFTER_KILL_MS = 500;

/**
 * What these programs take from their caller: where they are, whose they are, which cluster, and the site's own defaults
 * for accounting. What is not here cannot get into an engine's records.
 */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|SLURM_CONF|KRB5CCNAME|SBATCH_(ACCOUNT|QOS|RESERVATION|PARTITION|CONSTRAINT))$/;

export function environmentFor(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passed), LC_ALL: 'C' };
}

/** Runs a program without a shell, for `timeoutMs` at most. Never throws for how it ends. */
export async function run(
  program: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string | undefined>>; timeoutMs: number; stdin?: string },
): Promise<Ran> {
  const { spawn } = await import('node:child_process');
  const child = spawn(program, args, {
    env: environmentFor(options.env),
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      if (said[name].length < OUTPUT_MAX_CHARS) said[name] += chunk;
    });
  }
  let outcome: Ran['outcome'] = 'exited';
  const timer = setTimeout(() => {
    outcome = 'timed-out';
    child.kill('SIGKILL');
  }, options.timeoutMs);
  // A program that ends before it has read everything says so by its exit.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.stdin);
  try {
    const killed = sleep(options.timeoutMs + AFTER_KILL_MS, undefined, { ref: false });
    await Promise.race([once(child, 'close'), killed]);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return { outcome: 'missing', code: null, ...said };
  } finally {
    clearTimeout(timer);
  }
  return { outcome, code: child.exitCode, ...said };
}
