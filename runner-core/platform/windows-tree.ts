/** Which processes belong to a job: pure, over one Toolhelp snapshot, in which orphans keep the pid of a dead parent. */

export interface WindowsRow {
  readonly pid: number;
  readonly ppid: number;
  readonly image: string;
  /** When it was created (FILETIME). Undefined where we may not look: then it is nobody's. */
  readonly start: bigint | undefined;
}

export interface WindowsTreeQuery {
  /** As recorded; it may be gone, and its pid given to somebody else. */
  readonly worker?: { readonly pid: number; readonly start: bigint } | undefined;
  /** Who started the worker, where that one is not on record: whatever it started is a member. */
  readonly supervisor?: { readonly pid: number; readonly start: bigint } | undefined;
  /** Pids that the job object holds. */
  readonly held: ReadonlySet<number>;
  /** Never members, though what is below them may be: whoever asks, and this job's own supervisor. */
  readonly spare: ReadonlySet<number>;
  /** Never members, nor is anything below them: other jobs that were started from inside this one. */
  readonly foreign: ReadonlySet<number>;
}

type Snapshot = ReadonlyMap<number, WindowsRow>;
type Born = { readonly pid: number; readonly start: bigint };

function isBorn(row: WindowsRow): row is WindowsRow & Born {
  return row.start !== undefined;
}

/**
 * The direct children of one process, living or dead. A child is never older than its parent; and if the pid went to
 * another process meanwhile, what is younger than that one is its own.
 */
function childrenOf(parent: Born, rows: readonly WindowsRow[], snapshot: Snapshot): (WindowsRow & Born)[] {
  const occupant = snapshot.get(parent.pid);
  if (occupant && !isBorn(occupant)) return [];
  const reused = occupant && occupant.start !== parent.start ? occupant.start : undefined;
  return rows
    .filter(isBorn)
    .filter(
      (row) =>
        row.ppid === parent.pid &&
        row.pid !== parent.pid &&
        row.start >= parent.start &&
        (reused === undefined || row.start < reused),
    );
}

/** The seeds and everything below them, without `except` and what is only reached through it. */
function reach(
  rows: readonly WindowsRow[],
  snapshot: Snapshot,
  seeds: readonly (WindowsRow & Born)[],
  except: ReadonlySet<number>,
): Map<number, WindowsRow> {
  const reached = new Map<number, WindowsRow>();
  const queue = [...seeds];
  for (const row of queue) {
    if (reached.has(row.pid) || except.has(row.pid)) continue;
    reached.set(row.pid, row);
    queue.push(...childrenOf(row, rows, snapshot));
  }
  return reached;
}

/** The living members of the job's tree, parents before children. */
export function selectWindowsTree(rows: readonly WindowsRow[], query: WindowsTreeQuery): WindowsRow[] {
  const snapshot = new Map(rows.map((row) => [row.pid, row]));
  const born = rows.filter(isBorn);
  const { worker, supervisor } = query;
  const seeds = born.filter(
    (row) => (row.pid === worker?.pid && row.start === worker.start) || query.held.has(row.pid),
  );
  for (const parent of [worker, supervisor]) if (parent) seeds.push(...childrenOf(parent, rows, snapshot));
  const reached = reach(rows, snapshot, seeds, new Set());
  // Only what is inside this job can be another job inside it; a supervisor above it is none of its members anyway.
  const inner = born.filter((row) => query.foreign.has(row.pid) && reached.has(row.pid));
  const spared = reach(rows, snapshot, inner, new Set());
  const members = reach(rows, snapshot, seeds, new Set(spared.keys()));
  return [...members.values()].filter((row) => !query.spare.has(row.pid));
}
