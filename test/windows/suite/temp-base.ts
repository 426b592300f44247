/** A test's own place on the disk, the command line as it calls it, and the processes it answers for. */
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jobObjectName, membersOf, withJobObject } from '../../../runner-core/platform/win32-job.ts';
import { isRunning, listProcesses, terminate } from '../../../runner-core/platform/win32-process.ts';
import type { WindowsRow } from '../../../runner-core/platform/windows-tree.ts';
import { eventually } from './patience.ts';

/** The bundles under test, and koffi beside them. */
export const APP = process.env.PEER_JOBS_APP ?? '';
export const CLI = join(APP, 'peer-jobs.mjs');

/** A program of this suite that is bundled by itself. */
export function program(name: string): string {
  return join(APP, `${name}.mjs`);
}

export interface CliRun {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Job {
  readonly id: string;
  readonly dir: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

const FOREIGN = /^(CE_PEER_|CE_WORK_|CROSS_MODEL_|PEER_JOBS_|NODE_)/i;
/** A supervisor may take this long to be gone after it has published. */
const LEAVE_MS = 120_000;
const CALL_TIMEOUT_MS = 300_000;

export function cleanEnv(extra: Variables = {}): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  return { ...Object.fromEntries(kept), CE_PEER_GRACE_SECS: '0.5', ...extra };
}

/**
 * On a machine with many times its work, Wine fails to make one process in some thousands: the error is none that Windows has
 * there, and nothing has run. Once more, then.
 */
function underWine<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    if (!process.env.PEER_JOBS_WINE || !(error instanceof Error && error.message === 'spawn UNKNOWN'))
      throw error;
    console.error('Wine could not make a process; once more');
    return start();
  }
}

/** Runs a program of Node's to its end, and until all its pipes are closed. */
export function runNode(args: readonly string[], env: Variables, cwd: string): Promise<CliRun> {
  return new Promise((resolve, reject) => {
    const start = () => spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const child = underWine(start);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    const timer = setTimeout(() => {
      child.kill();
      reject(
        new Error(`${args.join(' ')} has not ended, or left a pipe open; stderr: ${Buffer.concat(err)}`),
      );
    }, CALL_TIMEOUT_MS);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString('utf8') });
    });
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not made yet, or no folder.
    return [];
  }
}

export class TempBase {
  readonly root = realpathSync.native(mkdtempSync(join(tmpdir(), 'pj-')));
  readonly base = join(this.root, 'base');
  readonly scratch = join(this.root, 'scratch');
  readonly env = cleanEnv({ CE_PEER_JOBS_ROOT: this.base });
  readonly #watched: WindowsRow[] = [];

  constructor() {
    mkdirSync(this.scratch);
  }

  at(name: string): string {
    return join(this.scratch, name);
  }

  file(name: string, content: string | Buffer): string {
    writeFileSync(this.at(name), content);
    return this.at(name);
  }

  cli(args: readonly string[], extra: Variables = {}): Promise<CliRun> {
    return runNode([CLI, ...args], { ...this.env, ...extra }, this.scratch);
  }

  /** What a call printed, and its exit code, in one line: `0 "done\n"`. */
  async ask(...args: string[]): Promise<string> {
    const { code, stdout } = await this.cli(args);
    return `${code} ${JSON.stringify(stdout.toString('utf8'))}`;
  }

  /** Starts a job of skill `s`, and fails unless that went without a word on stderr. */
  async start(
    worker: readonly string[],
    flags: readonly string[] = [],
    env: Variables = {},
    run = 'r',
  ): Promise<Job> {
    const call = await this.cli(['start', '--skill', 's', '--run-id', run, ...flags, '--', ...worker], env);
    if (call.code !== 0 || call.stderr !== '') throw new Error(`start: ${call.code} ${call.stderr}`);
    return this.job(call.stdout.toString('utf8').trim(), run);
  }

  job(id: string, run = 'r'): Job {
    const dir = join(this.base, 's', run, 'jobs', id);
    if (!/^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(id)) throw new Error(`start printed ${JSON.stringify(id)}`);
    return { id, dir };
  }

  /** Holds the test to the end of this process. */
  watch(pid: number): WindowsRow {
    const row = listProcesses().find((candidate) => candidate.pid === pid);
    if (row?.start === undefined) throw new Error(`no process ${pid} to watch`);
    this.#watched.push(row);
    return row;
  }

  /** Every process of every job of this test, and whoever was watched. */
  #survivors(): WindowsRow[] {
    const rows = listProcesses();
    const pids = new Set<number>();
    for (const dir of this.#jobDirs()) {
      const id = dir.split('\\').at(-1) ?? '';
      for (const pid of withJobObject(jobObjectName(id), membersOf) ?? []) pids.add(pid);
      const record = pidsIn(dir);
      for (const [pid, identity] of [
        [record?.supervisor_pid, record?.supervisor_identity],
        [record?.worker_pid, record?.worker_identity],
      ] as const) {
        const row = rows.find((candidate) => candidate.pid === pid);
        if (row && identity?.startsWith(`${row.start} `)) pids.add(row.pid);
      }
    }
    return [...rows.filter((row) => pids.has(row.pid)), ...this.#watched].filter(isRunning);
  }

  #jobDirs(): string[] {
    return namesIn(join(this.base, 's')).flatMap((run) => {
      const jobs = join(this.base, 's', run, 'jobs');
      return namesIn(jobs).map((name) => join(jobs, name));
    });
  }

  /** Fails if anything that the test started still lives, ends it, and removes the directory. */
  async close(): Promise<void> {
    let left: WindowsRow[] = [];
    await eventually(() => {
      left = this.#survivors();
      return left.length === 0;
    }, LEAVE_MS).catch(() => undefined);
    for (const row of left) terminate(row);
    // Never waiting inside rmSync: who holds a file may wait for us to read what it printed.
    await eventually(() => {
      rmSync(this.root, { recursive: true, force: true });
      return true;
    }, LEAVE_MS).catch(() => undefined);
    if (left.length > 0)
      throw new Error(`left behind: ${left.map((row) => `${row.pid} ${row.image}`).join(', ')}`);
  }
}

export function openTempBase(): TempBase {
  return new TempBase();
}

export interface PidRecord {
  readonly supervisor_pid: number;
  readonly worker_pid: number;
  readonly supervisor_identity: string;
  readonly worker_identity: string;
  readonly job_name: string;
  readonly detachment: string;
}

export function pidsIn(dir: string): PidRecord | undefined {
  const text = textOf(dir, 'pid');
  return text === undefined ? undefined : (JSON.parse(text) as PidRecord);
}

/** The text of a file in the job directory, or undefined while it is not there. */
export function textOf(dir: string, name: string): string | undefined {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch {
    return undefined;
  }
}
