/** Jobs of the built command line, as tests start them, ask about them and harm them. */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { killAs } from './ledger.ts';
import { disposesOf, identityOf, isAlive, isAliveAs } from './proc.ts';
import type { Argv, SideName } from './programs.ts';
import {
  type JobPids,
  jobDirsBelow,
  listDirectory,
  readJobFile,
  readPids,
  readReady,
  readStatus,
  readSupervisor,
  type TerminalWord,
} from './read-job.ts';
import type { CliRun } from './run-cli.ts';
import type { TempBase } from './temp-base.ts';

export interface Job {
  readonly id: string;
  readonly dir: string;
}

export interface StartOptions {
  readonly flags?: readonly string[];
  /** Added to the clean environment of the caller. */
  readonly env?: Readonly<Record<string, string>>;
  readonly side?: SideName;
  readonly run?: string;
}

/** Short grace, so that nobody waits for workers that ignore TERM; looks often where the reference polls. */
export const BRISK = { CE_PEER_POLL_SECS: '0.1', CE_PEER_GRACE_SECS: '0.5' };

/** Starts a job (skill `s`, run `r`) and fails unless that went without a word on stderr. */
export async function start(temp: TempBase, worker: Argv, options: StartOptions = {}): Promise<Job> {
  const { flags = [], env = {}, side = 'ours', run = 'r' } = options;
  const call = await temp.run(side, ['start', '--skill', 's', '--run-id', run, ...flags, '--', ...worker], {
    extra: { ...BRISK, ...env },
  });
  expect({ stderr: call.stderr, code: call.code }).toEqual({ stderr: '', code: 0 });
  return jobNamed(temp, call.stdout.toString('utf8').trim());
}

/** The job of that id, with its processes on the ledger. */
export function jobNamed(temp: TempBase, id: string): Job {
  const dir = jobDirsBelow(temp.root).find((path) => basename(path) === id);
  if (dir === undefined) throw new Error(`no directory of ${JSON.stringify(id)}`);
  temp.ledger.registerJob(dir);
  return { id, dir };
}

export const ready = (job: Job): Promise<[number, ...number[]]> =>
  eventually(() => readReady(job.dir), 60_000);

/** The terminal word, from the disk alone: nobody is asked, so nobody settles the job for the question's sake. */
export const settled = (job: Job, deadlineMs = 60_000): Promise<TerminalWord> =>
  eventually(() => readStatus(job.dir), deadlineMs);

/** Whether whoever wrote the record has tidied up and ended: both come after the news of it. */
export function isAtRest(jobDir: string): boolean {
  const supervisor = readSupervisor(jobDir);
  const litter = listDirectory(jobDir).filter((name) => /^\.(tmp|reserve|lease|launch)-/.test(name));
  return litter.length === 0 && (supervisor === undefined || !isAlive(supervisor));
}

/** The terminal word, once nobody changes anything in the directory any more. For whoever looks at all of that. */
export async function atRest(job: Job): Promise<TerminalWord> {
  const word = await settled(job);
  await eventually(() => isAtRest(job.dir));
  return word;
}

/** What a call printed, and its exit code, in one line: `0 "done\n"`. */
export async function ask(temp: TempBase, ...args: string[]): Promise<string> {
  return told(await temp.run('ours', args, { extra: BRISK }));
}

export function told(run: CliRun): string {
  return `${run.code} ${JSON.stringify(run.stdout.toString('utf8'))}`;
}

export function pidsOf(job: Job): JobPids {
  const pids = readPids(job.dir);
  if (pids === undefined) throw new Error(`no pid record in ${job.dir}`);
  return pids;
}

/** KILL, and waits until it is gone. */
export async function kill(pid: number): Promise<void> {
  const identity = identityOf(pid);
  if (identity === undefined) return;
  killAs(pid, identity);
  await eventually(() => !isAliveAs(pid, identity));
}

/**
 * Waits until a supervisor hears requests: it does from a moment after it has told its caller. Node catches SIGTERM itself, to
 * tidy up and die of it, so that a stray hang-up tells: supervisors order that last.
 */
export async function hearing(supervisorPid: number): Promise<void> {
  await eventually(() => disposesOf(supervisorPid, constants.signals.SIGHUP));
}

/** What reap does first, without what it waits for. */
export async function requestReap(supervisorPid: number): Promise<void> {
  await hearing(supervisorPid);
  process.kill(supervisorPid, 'SIGTERM');
}

/** Kills the recorded supervisor; gives the worker's pid. */
export async function killSupervisor(job: Job): Promise<number> {
  // On a cluster a worker may have begun before its supervisor has put that on record.
  const pids = await eventually(() => readPids(job.dir));
  await kill(pids.supervisor_pid);
  return pids.worker_pid;
}

/** Waits until none of them lives; says who does. */
export async function gone(pids: readonly number[], deadlineMs = 30_000): Promise<void> {
  const identities = pids.map((pid) => ({ pid, identity: identityOf(pid) }));
  await eventually(
    () => identities.every(({ pid, identity }) => identity === undefined || !isAliveAs(pid, identity)),
    deadlineMs,
  );
}

/** The files that make the terminal record, to be held against what they are later. */
export function recordOf(job: Job): Record<string, string | undefined> {
  return Object.fromEntries(
    ['status', 'reason', 'outcome.json'].map((name) => [name, readJobFile(job.dir, name)]),
  );
}

/** Every job there is below a directory, by its path. */
export function jobsBelow(root: string): Job[] {
  return jobDirsBelow(root).map((dir) => ({ id: basename(dir), dir }));
}
