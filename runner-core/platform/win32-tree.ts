import { setTimeout as sleep } from 'node:timers/promises';
import type { JobProcesses, TeardownOrder } from './port.ts';
import { endJobObject, jobObjectName, membersOf, pidIsInJob, withJobObject } from './win32-job.ts';
import { supervises } from './win32-marks.ts';
import { identify, isRunning, listProcesses, locate, startOf, terminate } from './win32-process.ts';
import { selectWindowsTree, type WindowsRow } from './windows-tree.ts';

/** How long members may resist (a driver that does not let go, forks faster than kills) before they are named instead. */
const KILL_BUDGET_MS = 10_000;
const ROUND_MS = 500;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

interface Sight {
  readonly members: readonly WindowsRow[];
  /** Nobody in the job object is to be spared. */
  readonly whole: boolean;
}

function nameOf(job: JobProcesses): string {
  return job.jobName ?? jobObjectName(job.jobId);
}

function heldBy(name: string): number[] {
  return withJobObject(name, (object) => membersOf(object).filter((pid) => pidIsInJob(pid, object))) ?? [];
}

/** What lives of the job: all that its job object holds, and what the parent pids lead to. */
function look(job: JobProcesses): Sight {
  const rows = listProcesses();
  const spare = new Set([process.pid]);
  const foreign = new Set<number>();
  for (const { pid } of rows) {
    const supervised = supervises(pid);
    if (supervised === job.jobId) spare.add(pid);
    else if (supervised !== undefined) {
      foreign.add(pid);
      for (const member of heldBy(jobObjectName(supervised))) foreign.add(member);
    }
  }
  const held = new Set(heldBy(nameOf(job)));
  // A job that this one runs in holds our members too; then nothing of ours is foreign.
  const worker = workerOf(job);
  if (worker && foreign.has(worker.pid)) {
    for (const pid of held) foreign.delete(pid);
  }
  const members = selectWindowsTree(rows, { worker, supervisor: starterOf(job), held, spare, foreign });
  const chosen = new Set(members.map((row) => row.pid));
  return { members, whole: [...held].every((pid) => chosen.has(pid)) };
}

/** Without a recorded identity, only a worker that circumstances prove gives a start time to go by. */
function workerOf({ worker, circumstances }: JobProcesses): { pid: number; start: bigint } | undefined {
  if (!worker) return undefined;
  const recorded = startOf(worker.identity);
  if (recorded !== undefined) return { pid: worker.pid, start: recorded };
  const at = locate(worker.pid, undefined, circumstances);
  const start = at.state === 'alive' ? startOf(identify(worker.pid)) : undefined;
  return start === undefined ? undefined : { pid: worker.pid, start };
}

/** A supervisor may have died between the first step of its worker, or before that, and the record of it. */
function starterOf({ worker, supervisor }: JobProcesses): { pid: number; start: bigint } | undefined {
  const start = worker ? undefined : startOf(supervisor?.identity);
  return supervisor && start !== undefined ? { pid: supervisor.pid, start } : undefined;
}

/** The living worker of a job whose record does not tell it: the first of its tree, if that is what a supervisor started. */
export function findWorker(job: JobProcesses): { pid: number; identity: string | undefined } | undefined {
  const [first] = look(job).members.toSorted((one, other) =>
    (one.start ?? 0n) < (other.start ?? 0n) ? -1 : 1,
  );
  if (!first || (job.supervisor && first.ppid !== job.supervisor.pid)) return undefined;
  return { pid: first.pid, identity: identify(first.pid) };
}

/** Waits until all of `rows` are gone, a round at the most. */
async function outlast(rows: readonly WindowsRow[]): Promise<void> {
  const until = performance.now() + ROUND_MS;
  let alive = rows;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    alive = alive.filter(isRunning);
    if (alive.length === 0 || performance.now() > until) return;
    await sleep(pause);
  }
}

/**
 * Ends a job's tree until nothing of it is left; gives what is left all the same, one text a process. There is no polite
 * first step: a program without a window or a console of its own to share has nothing by which it could be asked.
 */
export async function tearDown({ processes }: TeardownOrder): Promise<string[]> {
  const until = performance.now() + KILL_BUDGET_MS;
  for (;;) {
    const { members, whole } = look(processes);
    if (members.length === 0 || performance.now() > until) return members.map((row) => `${row.pid}`);
    if (whole) withJobObject(nameOf(processes), endJobObject);
    for (const row of members) terminate(row);
    await outlast(members);
  }
}

export function treeLives(job: JobProcesses): 'yes' | 'no' | 'unknown' {
  if (look(job).members.length > 0) return 'yes';
  if (!job.worker) return 'no';
  const at = locate(job.worker.pid, job.worker.identity, job.circumstances);
  return at.state === 'unknown' ? 'unknown' : at.state === 'alive' ? 'yes' : 'no';
}
