/** What must hold of a job after any fault, read from the disk and the process table and asked of fresh commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { BRISK, type Job, recordOf } from '../support/jobs.ts';
import { commandLineOf, isAlive, listPids, openFilesOf, readEnviron, readStat } from '../support/proc.ts';
import { jobDirsBelow, readPids, readStatus } from '../support/read-job.ts';
import type { CliRun } from '../support/run-cli.ts';
import type { TempBase } from '../support/temp-base.ts';

/** Fails with what was being done; `expect` would lose the seed's story. */
export function demand(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Documented exit codes of each command; contract §6. */
const EXIT_CODES: Readonly<Record<string, readonly number[]>> = {
  start: [0, 1, 2],
  status: [0, 1],
  wait: [0, 1],
  list: [0, 1],
  log: [0, 1, 3, 4],
  result: [0, 1, 2, 3, 4],
  reap: [0, 1, 4],
};

/** Everything that a command may do wrong whatever happened to it, short of being killed. */
export function checkCall(command: string, run: CliRun): void {
  if (run.code === null) return;
  const told = `${command}: exit ${run.code}, stderr ${JSON.stringify(run.stderr)}`;
  demand(EXIT_CODES[command]?.includes(run.code), `undocumented exit code: ${told}`);
  demand(!/\n\s+at |node:internal|internal error/.test(run.stderr), `a stack trace or a bug: ${told}`);
  demand(run.code === 0 || run.stderr.trim() !== '', `failed without a word: ${told}`);
  demand(run.stderr.trim().split('\n').length <= 2, `more than one line and the usage: ${told}`);
}

export async function call(temp: TempBase, ...args: [string, ...string[]]): Promise<CliRun> {
  const run = await temp.run('ours', args, { extra: BRISK, timeoutMs: 60_000 });
  checkCall(args[0], run);
  return run;
}

/** Living processes that carry the job's mark: its worker and what came of it. */
export function workersOf(jobId: string): number[] {
  return listPids().filter((pid) => readEnviron(pid)?.get('CE_PEER_JOB_ID') === jobId && isAlive(pid));
}

/** Living supervisors of the job, the recorded one or one that has its log open, without a tracer around it. */
export function supervisorsOf(job: Job): number[] {
  const recorded = readPids(job.dir)?.supervisor_pid;
  return listPids().filter(
    (pid) =>
      readEnviron(pid)?.has('PEER_JOBS_SUPERVISOR') &&
      /^\S*node \S*\/dist\/[\w.-]+\.[cm]js __supervise/.test(commandLineOf(pid)) &&
      isAlive(pid) &&
      (pid === recorded || [...openFilesOf(pid).values()].some((path) => path.startsWith(`${job.dir}/`))),
  );
}

/** A bystander in a session of its own that nothing may signal: it would die of anything that can be sent. */
export class Canary {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static release(temp: TempBase): Canary {
    const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true, env: {} });
    if (child.pid !== undefined) temp.ledger.register(child.pid, 'the canary');
    return new Canary(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  check(): void {
    demand(isAlive(this.pid) && readStat(this.pid)?.state !== 'T', 'a foreign process was signalled');
  }

  free(): void {
    this.#child.kill('SIGKILL');
  }
}

/** For so long a supervisor tries to publish on a disk that refuses; docs/decisions/0007. */
const PUBLISHING_BUDGET_MS = 61_250;
const SLOW_BOX_MS = 30_000;

export interface Truth {
  /** Where the worker publishes, if it declared that. */
  readonly result: string | undefined;
  /** Whether somebody asked for the end of the job, or a window could close on it. */
  readonly mayTimeOut: boolean;
  /** Words that are true of a worker that came to its own end. */
  readonly ends: readonly string[];
}

/**
 * One question about the job, and whether that put things right: a living worker has exactly one living supervisor, all
 * else has a record, the record is coherent and true, and it stays as it is through every later command. The job is
 * reaped in the end.
 */
export async function checkJob(
  temp: TempBase,
  job: Job,
  question: readonly [string, ...string[]],
  truth: Truth,
): Promise<string> {
  const early = readStatus(job.dir) === undefined ? undefined : recordOf(job);
  const supervised = supervisorsOf(job).length === 1;
  await call(temp, ...question);
  const status = readStatus(job.dir);
  const state = status ?? 'running';
  if (status === undefined && existsSync(`${job.dir}/pid`)) {
    const workers = workersOf(job.id);
    if (question[0] === 'reap') demand(false, `reap left ${job.id} unsettled, its processes: ${workers}`);
    if (!(await settlesSoon(job)) && workersOf(job.id).length > 0) demandOneSupervisor(job, question[0]);
    else if (readStatus(job.dir) === undefined) await demandEndInTime(temp, job, question[0], supervised);
  }
  const reaped = await call(temp, 'reap', job.id);
  demand(reaped.code === 0, `reap: ${reaped.code} ${reaped.stderr}`);
  if (!existsSync(`${job.dir}/pid`)) {
    demand(workersOf(job.id).length === 0, `a worker of ${job.id} lives, and nothing was recorded`);
    return 'never-started';
  }
  const record = recordOf(job);
  checkRecord(record, truth, early);
  await eventually(() => workersOf(job.id).length === 0 && supervisorsOf(job).length === 0, 60_000);
  const questions: readonly (readonly [string, ...string[]])[] = [
    ['status', job.id],
    ['wait', '--max-secs', '0', job.id],
    ['reap', job.id],
    ['list'],
    ['result', job.id],
    ['log', job.id],
  ];
  for (const later of questions) await call(temp, ...later);
  demand(
    JSON.stringify(recordOf(job)) === JSON.stringify(record),
    `the record changed from ${JSON.stringify(record)} to ${JSON.stringify(recordOf(job))}`,
  );
  return state;
}

/** A supervisor that is just finishing may need a moment; nobody is asked again meanwhile. */
async function settlesSoon(job: Job): Promise<boolean> {
  const settled = (): boolean => readStatus(job.dir) !== undefined;
  try {
    await eventually(() => settled() || supervisorsOf(job).length === 1, 30_000);
    // Alive, with a worker: or about to publish.
    if (!settled() && workersOf(job.id).length === 0) await eventually(settled, 8_000);
  } catch {
    // Judged by what there is.
  }
  return settled();
}

function demandOneSupervisor(job: Job, asked: string): void {
  const supervisors = supervisorsOf(job);
  demand(supervisors.length === 1, `${supervisors.length} supervisors of a living worker after ${asked}`);
  demand(
    readPids(job.dir)?.supervisor_pid === supervisors[0],
    'the pid record does not name the living supervisor',
  );
}

/**
 * Without a worker and unsettled, a job must have its supervisor, whose disk refuses: that tries again for its documented
 * minute, and is then gone at the latest. Whatever is asked then settles the job.
 */
async function demandEndInTime(temp: TempBase, job: Job, asked: string, supervised: boolean): Promise<void> {
  const supervisors = supervisorsOf(job);
  const named = supervisors.length === 1 && readPids(job.dir)?.supervisor_pid === supervisors[0];
  demand(
    // It may have given up since it was asked about.
    readStatus(job.dir) !== undefined || named || (supervised && supervisors.length === 0),
    `nobody works for ${job.id}, and it is unsettled after ${asked}`,
  );
  await eventually(
    () => readStatus(job.dir) !== undefined || supervisorsOf(job).length === 0,
    PUBLISHING_BUDGET_MS + SLOW_BOX_MS,
  );
  const answer = await call(temp, 'status', job.id);
  demand(
    readStatus(job.dir) !== undefined,
    `its supervisor gave up on ${job.id}, and the next status left it unsettled: ${answer.stdout} ${answer.stderr}`,
  );
}

function checkRecord(
  record: Record<string, string | undefined>,
  truth: Truth,
  early: Record<string, string | undefined> | undefined,
): void {
  const told = JSON.stringify(record);
  const word = record.status?.trim() ?? '';
  demand(word !== '', `no record after a reap: ${told}`);
  const outcome = JSON.parse(record['outcome.json'] ?? 'null');
  demand(
    outcome?.state === word && outcome.reason === record.reason?.trim(),
    `the record contradicts itself: ${told}`,
  );
  demand(
    early === undefined || JSON.stringify(early) === told,
    `the record changed from ${JSON.stringify(early)} to ${told}`,
  );
  const published =
    truth.result !== undefined && (statSync(truth.result, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (word === 'done') demand(truth.result === undefined || published, `done without a result: ${told}`);
  else if (word === 'timeout') demand(truth.mayTimeOut, `a timeout that nobody asked for: ${told}`);
  else if (word === 'failed' && /^worker exited/.test(outcome.reason)) {
    demand(truth.ends.includes('failed'), `failed, which the worker never did: ${told}`);
  }
}

/** The jobs that a start made, whatever became of it. */
export function jobsOf(temp: TempBase): Job[] {
  return jobDirsBelow(temp.root).map((dir) => ({ id: basename(dir), dir }));
}
