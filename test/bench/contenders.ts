/** Who is compared: each starts a job, says how it stands, and brings the news of its end. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Argv } from '../support/programs.ts';
import type { Session } from './session.ts';
import { type ProcessOptions, runWhole } from './whole-process.ts';

export interface Contender {
  readonly name: string;
  /** Milliseconds over which its supervisor's poll may fall anywhere; 0 for one that goes by events. */
  readonly pollMs: number;
  start(worker: Argv): Promise<string>;
  status(job: string): Promise<void>;
  /** Resolves with the answer that says that the job has ended. */
  news(job: string): Promise<void>;
  close(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

function insist(word: string | undefined, wanted: string): void {
  if (word !== wanted) throw new Error(`the answer is ${JSON.stringify(word)}, not ${wanted}`);
}

/** A tool call in a client process that lives all along; no process start is in the figure. */
export function overMcp(session: Session, cwd: string): Contender {
  const stateOf = (job: string, tool: string, more = {}): Promise<string | undefined> =>
    session.call(tool, { jobs: [job], ...more }).then(({ jobs }) => jobs?.[0]?.state);
  return {
    name: 'peer-jobs over MCP',
    pollMs: 0,
    start: async (worker) => (await session.call('start_job', { argv: worker, cwd })).job_id ?? '',
    status: async (job) => insist(await stateOf(job, 'job_status'), 'running'),
    news: async (job) => insist(await stateOf(job, 'wait_jobs', { max_secs: 40 }), 'done'),
    close: () => session.close(),
  };
}

/** A command line that works as the reference does; the figure is that of a whole process. */
export function onCommandLine(name: string, argv: Argv, options: ProcessOptions, pollMs: number): Contender {
  const run = (...args: string[]): Promise<string> => runWhole([...argv, ...args], options);
  return {
    name,
    pollMs,
    start: (worker) => run('start', '--skill', 'bench', '--run-id', 'r', '--', ...worker),
    status: async (job) => insist(await run('status', job), 'running'),
    news: async (job) => insist(await run('wait', '--max-secs', '40', job), 'done'),
    close: nothing,
  };
}

/** task-spooler: a client program and a daemon of our own; the figure is that of the whole client process. */
export function taskSpooler(scratch: string, options: ProcessOptions): Contender {
  const place = join(scratch, 'tsp');
  mkdirSync(place);
  const own: ProcessOptions = {
    ...options,
    env: { ...options.env, TS_SOCKET: join(place, 'socket'), TMPDIR: place },
  };
  // The first client starts the daemon, which must not keep a pipe of ours. Jobs never wait for each other.
  execFileSync('tsp', ['-S', '2000'], { env: own.env, cwd: place, stdio: 'ignore' });
  const run = (...args: string[]): Promise<string> => runWhole(['tsp', ...args], own);
  return {
    name: 'task-spooler',
    pollMs: 0,
    start: (worker) => run(...worker),
    status: async (job) => insist(await run('-s', job), 'running'),
    news: async (job) => void (await run('-w', job)),
    // Only the daemon behind our own socket.
    close: async () => void (await runWhole(['tsp', '-K'], own, new AbortController().signal)),
  };
}

/** Why there is no task-spooler to compare with, or undefined where there is one; root gets it installed. */
export function taskSpoolerMissing(): string | undefined {
  const there = (): boolean => {
    try {
      execFileSync('tsp', ['-V'], { stdio: 'ignore', env: { ...process.env, TS_SOCKET: '/nonexistent' } });
      return true;
    } catch {
      return false;
    }
  };
  if (there()) return undefined;
  if (process.geteuid?.() !== 0) return 'no tsp here: install the Debian package task-spooler';
  try {
    execFileSync('apt-get', ['install', '-y', '-q', 'task-spooler'], { stdio: 'ignore' });
  } catch {
    return 'the Debian package task-spooler could not be installed';
  }
  return there() ? undefined : 'task-spooler was installed, but there is no tsp';
}
