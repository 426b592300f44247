import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessRow, selectTree, type TreeQuery } from '../job/tree.ts';
import type { JobProcesses, TeardownOrder } from './port.ts';
import { awaitedChildren, signalProcess } from './posix-process.ts';
import type { ProcessTable } from './process-table.ts';

/** How long members may resist KILL (uninterruptible sleep, forks faster than kills) before they are named instead. */
const KILL_BUDGET_MS = 30_000;
/** A tree that still grows after this many looks is killed as far as it is stopped, and looked at again. */
const FREEZE_ROUNDS = 50;
const FIRST_PAUSE_MS = 5;
/** The end of a child is known to the system a moment before it is known here. */
const NEWS_LOOKS = 4;
const LONGEST_PAUSE_MS = 100;

/**
 * The log itself, if a plain file lies there. What a planted link points to may be everybody's: whoever writes to
 * /dev/null is not of this job.
 */
export function logFileAt(path: string): { dev: number; ino: number } | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? { dev: stat.dev, ino: stat.ino } : undefined;
  } catch {
    // Gone, with its directory or without: nobody is known by it.
    return undefined;
  }
}

/** Finds and ends the processes of one job. `own`: asked by the supervisor that started the worker. */
class JobTree {
  /** Looks only below this process, where all of the tree is that its supervisor adopts. */
  near = false;
  readonly #table: ProcessTable;
  readonly #query: TreeQuery;
  readonly #log: { dev: number; ino: number } | undefined;

  private constructor(table: ProcessTable, query: TreeQuery, log: { dev: number; ino: number } | undefined) {
    this.#table = table;
    this.#query = query;
    this.#log = log;
  }

  static async of(job: JobProcesses, own: boolean, table: ProcessTable): Promise<JobTree> {
    const { supervisor, worker } = job;
    const supervisorAt = supervisor
      ? await table.locate(supervisor.pid, supervisor.identity, job.circumstances)
      : undefined;
    const workerAt = worker ? await table.locate(worker.pid, worker.identity, job.circumstances) : undefined;
    const workerPid = workerAt?.state === 'alive' ? workerAt.pid : worker?.pid;
    // Also without a recorded identity: a worker that circumstances prove is the one that lives there now.
    const identity = workerAt?.state === 'alive' ? await table.identify(workerAt.pid) : worker?.identity;
    const start = await startHere(identity, table);
    const recordedPid = supervisorAt?.state === 'alive' ? supervisorAt.pid : undefined;
    const supervisorPid = own ? process.pid : recordedPid;
    const query: TreeQuery = {
      jobId: job.jobId,
      worker:
        workerPid !== undefined && start !== undefined && (own || workerAt?.state !== 'unknown')
          ? // A group number cannot be given away while its leader lives or has not been waited for.
            { pid: workerPid, start, group: own || workerAt?.state === 'alive' }
          : undefined,
      reaperPid: supervisorPid,
      spare: new Set([process.pid, ...(supervisorPid === undefined ? [] : [supervisorPid])]),
    };
    return new JobTree(table, query, logFileAt(job.logPath));
  }

  async members(): Promise<ProcessRow[]> {
    const rows = (this.near ? this.#table.below(process.pid) : undefined) ?? (await this.#table.list());
    return selectTree(rows, this.#query, this.#table.marks(this.#log));
  }

  /** Signals those of `rows` that are still the processes that were seen. */
  async signal(rows: readonly ProcessRow[], signal: NodeJS.Signals): Promise<void> {
    for (const row of rows) if (await this.#table.isAlive(row)) signalProcess(row.pid, signal);
  }

  /** Waits until all of `rows` are gone, `budgetMs` at the most. */
  async outlast(rows: readonly ProcessRow[], budgetMs: number): Promise<void> {
    const until = performance.now() + budgetMs;
    let alive = rows;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const still = await Promise.all(alive.map((row) => this.#table.isAlive(row)));
      alive = alive.filter((_, index) => still[index]);
      const left = until - performance.now();
      if (alive.length === 0 || left <= 0) return;
      await sleep(Math.min(pause, left));
    }
  }
}

/** The start in an identity of this boot and pid namespace: in any other, the same numbers are somebody else's. */
async function startHere(identity: string | undefined, table: ProcessTable): Promise<number | undefined> {
  const own = (await table.identify(process.pid)) ?? '';
  const here = own.slice(0, own.lastIndexOf('/') + 1);
  return identity?.startsWith(here) ? table.startOf(identity) : undefined;
}

/**
 * TERM, grace, KILL until nothing of the tree is left. Gives what is left all the same, one text a process. `isGone`: in
 * a supervisor that adopts orphans, whether the system says that none is left; then nobody is looked for elsewhere.
 */
export async function tearDownPosix(
  order: TeardownOrder,
  table: ProcessTable,
  isGone?: () => boolean,
): Promise<string[]> {
  if (!(await isReadable(table))) return tearDownBlindly(order);
  const tree = await JobTree.of(order.processes, order.own, table);
  if (order.own && isGone) {
    tree.near = true;
    await end(tree, order.graceMs);
    for (let look = 0; look < NEWS_LOOKS; look += 1) {
      if (isGone()) return [];
      await sleep(FIRST_PAUSE_MS);
    }
    tree.near = false;
  }
  const left = await end(tree, order.graceMs);
  return left.map((row) => `${row.pid}`);
}

async function end(tree: JobTree, graceMs: number): Promise<ProcessRow[]> {
  let members = await tree.members();
  if (members.length > 0 && graceMs > 0) {
    await tree.signal(members, 'SIGTERM');
    // A stopped process only sees its TERM once it goes on.
    await tree.signal(members, 'SIGCONT');
    await tree.outlast(members, graceMs);
    members = await tree.members();
  }
  const until = performance.now() + KILL_BUDGET_MS;
  while (members.length > 0 && performance.now() < until) {
    await freeze(tree, members);
    members = await tree.members();
    await tree.signal(members, 'SIGKILL');
    await tree.outlast(members, LONGEST_PAUSE_MS * 5);
    members = await tree.members();
  }
  return members;
}

/** A table that does not even show the reader (no /proc in this sandbox, ps refused) shows nobody. */
async function isReadable(table: ProcessTable): Promise<boolean> {
  try {
    return (await table.identify(process.pid)) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The last resort: without a process table only our own child is proven, since its number is not free until it was
 * waited for. Its group is signalled, then whatever tree-kill's own look finds below it.
 */
async function tearDownBlindly({ processes: { worker }, graceMs }: TeardownOrder): Promise<string[]> {
  if (!worker || !awaitedChildren.has(worker.pid)) return ['any, the process table cannot be read'];
  signalProcess(-worker.pid, 'SIGTERM');
  for (const until = performance.now() + graceMs; performance.now() < until; await sleep(LONGEST_PAUSE_MS)) {
    if (!signalProcess(-worker.pid, 0)) break;
  }
  const { default: treeKill } = await import('tree-kill');
  await new Promise((resolve) => treeKill(worker.pid, 'SIGKILL', resolve));
  signalProcess(-worker.pid, 'SIGKILL');
  return [];
}

/** Stops a tree that may be forking, until a look finds nobody new: only then can it be killed whole. */
async function freeze(tree: JobTree, first: readonly ProcessRow[]): Promise<void> {
  const stopped = new Set<number>();
  let fresh = first;
  for (let round = 0; fresh.length > 0 && round < FREEZE_ROUNDS; round += 1) {
    await tree.signal(fresh, 'SIGSTOP');
    for (const row of fresh) stopped.add(row.pid);
    fresh = (await tree.members()).filter((row) => !stopped.has(row.pid));
  }
}

/** Whether anything of the job's tree lives, as far as it can be seen from here. */
export async function posixTreeLives(
  job: JobProcesses,
  table: ProcessTable,
): Promise<'yes' | 'no' | 'unknown'> {
  const tree = await JobTree.of(job, false, table);
  if ((await tree.members()).length > 0) return 'yes';
  if (!job.worker) return 'no';
  const at = await table.locate(job.worker.pid, job.worker.identity, job.circumstances);
  return at.state === 'unknown' ? 'unknown' : at.state === 'alive' ? 'yes' : 'no';
}
