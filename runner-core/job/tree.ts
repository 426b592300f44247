/** Which processes belong to a job: pure, over one snapshot of the process table. */

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** Grows with the time of the start; equal starts with equal pids are the same process. */
  readonly start: number;
  readonly zombie: boolean;
}

export interface TreeQuery {
  readonly jobId: string;
  /** The worker, if one was recorded. `group`: its process group is still proven to be its own. */
  readonly worker?: { readonly pid: number; readonly start: number; readonly group: boolean } | undefined;
  /** A live supervisor of this job that adopts orphans: every other child of it belongs to the job. */
  readonly reaperPid?: number | undefined;
  /** Never members: whoever asks, and the supervisors of this job. */
  readonly spare: ReadonlySet<number>;
}

/** Facts about a process that cost a read each, so they are only asked for where they matter. */
export interface ProcessMarks {
  /** The job that its environment at exec names, as a worker's does. */
  jobOf(pid: number): string | undefined;
  /** Whether it is the supervisor of some job, or waits to be one. */
  isSupervisor(pid: number): boolean;
  /** Whether it has this job's log open at all. */
  opensLog(pid: number): boolean;
  /** Whether its stdout or stderr is this job's log. */
  writesLog(pid: number): boolean;
}

/**
 * The living members of the job's tree in the order of their starts, so parents before children: the worker, its group
 * and session, whatever carries the job's mark or writes its log, orphans that the supervisor adopted, and all of their
 * descendants. Another job that was started from inside this one is not a descendant: its supervisor and what is below
 * it are left out.
 */
export function selectTree(rows: readonly ProcessRow[], query: TreeQuery, marks: ProcessMarks): ProcessRow[] {
  const notBefore = query.worker?.start ?? 0;
  const candidates = rows.filter((row) => row.start >= notBefore && !query.spare.has(row.pid));
  const children = new Map<number, ProcessRow[]>();
  for (const row of candidates) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
  const foreign = (row: ProcessRow): boolean => {
    // Supervisors and workers lead sessions of their own: whatever a process of this worker's claims, it is neither.
    if (query.worker?.group && row.sid === query.worker.pid) return false;
    const job = marks.jobOf(row.pid);
    return (
      (job !== undefined && job !== query.jobId) ||
      marks.isSupervisor(row.pid) ||
      supervisesUnmarked(row, children.get(row.pid) ?? [], query, marks)
    );
  };
  const members = new Map<number, ProcessRow>();
  const queue = candidates.filter((row) => isSeed(row, query, marks));
  for (const row of queue) {
    if (members.has(row.pid) || foreign(row)) continue;
    members.set(row.pid, row);
    queue.push(...(children.get(row.pid) ?? []));
    if (row.sid === row.pid) queue.push(...candidates.filter((other) => other.sid === row.sid));
  }
  return [...members.values()]
    .filter((row) => !row.zombie)
    .sort((one, other) => one.start - other.start || one.pid - other.pid);
}

function isSeed(row: ProcessRow, query: TreeQuery, marks: ProcessMarks): boolean {
  const { worker } = query;
  if (worker && row.pid === worker.pid && row.start === worker.start) return true;
  if (worker?.group && (row.pgid === worker.pid || row.sid === worker.pid)) return true;
  if (query.reaperPid !== undefined && row.ppid === query.reaperPid) return true;
  return marks.jobOf(row.pid) === query.jobId || marks.writesLog(row.pid);
}

/**
 * A supervisor of another kind than ours forks without a new program, so it carries its caller's mark. It is told by
 * what it did: it left the worker's session without leading one, and its child leads a session under another job's mark.
 */
function supervisesUnmarked(
  row: ProcessRow,
  children: readonly ProcessRow[],
  query: TreeQuery,
  marks: ProcessMarks,
): boolean {
  if (row.sid === row.pid || row.sid === query.worker?.pid) return false;
  return children.some((child) => {
    const job = child.sid === child.pid ? marks.jobOf(child.pid) : undefined;
    return job !== undefined && job !== query.jobId;
  });
}
