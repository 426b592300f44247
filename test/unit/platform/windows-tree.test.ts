import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  selectWindowsTree,
  type WindowsRow,
  type WindowsTreeQuery,
} from '../../../runner-core/platform/windows-tree.ts';

function row(pid: number, ppid: number, start: number | undefined): WindowsRow {
  return { pid, ppid, image: 'x.exe', start: start === undefined ? undefined : BigInt(start) };
}

function select(rows: readonly WindowsRow[], query: Partial<WindowsTreeQuery>): number[] {
  const none = new Set<number>();
  return selectWindowsTree(rows, { held: none, spare: none, foreign: none, ...query }).map(({ pid }) => pid);
}

const worker = { pid: 10, start: 100n };

describe('the tree of a job is', () => {
  test('the worker and all below it, parents first', () => {
    const rows = [row(30, 20, 300), row(20, 10, 200), row(10, 1, 100), row(40, 1, 400)];
    expect(select(rows, { worker })).toEqual([10, 20, 30]);
  });

  test('what is below a worker that has exited: orphans keep its pid', () => {
    expect(select([row(20, 10, 200), row(30, 20, 300)], { worker })).toEqual([20, 30]);
  });

  test('what the job object holds, whoever its parent was', () => {
    expect(select([row(50, 999, 500), row(60, 50, 600)], { worker, held: new Set([50]) })).toEqual([50, 60]);
  });

  test('never the process that was given the pid of the worker, nor its children; older orphans are', () => {
    const rows = [row(10, 1, 500), row(20, 10, 200), row(21, 20, 900), row(60, 10, 600)];
    expect(select(rows, { worker })).toEqual([20, 21]);
  });

  test('never a process older than the parent whose pid it names', () => {
    expect(select([row(10, 1, 100), row(20, 10, 50)], { worker })).toEqual([10]);
  });

  test('never one that cannot be looked at, nor what only that one could prove', () => {
    expect(select([row(10, 1, undefined), row(20, 10, 200)], { worker })).toEqual([]);
    expect(select([row(10, 1, 100), row(20, 10, undefined)], { worker })).toEqual([10]);
  });

  test('not another job inside it, with all that belongs to that, but what is beside it', () => {
    const rows = [row(10, 1, 100), row(20, 10, 200), row(30, 20, 300), row(31, 30, 310), row(40, 10, 400)];
    expect(select(rows, { worker, foreign: new Set([30]) })).toEqual([10, 20, 40]);
  });

  test('whole where the supervisor above it is another job’s', () => {
    const rows = [row(5, 1, 50), row(10, 5, 100), row(20, 10, 200)];
    expect(select(rows, { worker, foreign: new Set([5]) })).toEqual([10, 20]);
  });

  test('what a supervisor started that did not live to record it, and nothing that had its pid before or after', () => {
    const supervisor = { pid: 7, start: 100n };
    expect(select([row(10, 7, 150), row(20, 10, 200), row(11, 7, 50)], { supervisor })).toEqual([10, 20]);
    expect(select([row(7, 1, 500), row(10, 7, 150), row(12, 7, 600)], { supervisor })).toEqual([10]);
  });

  test('not whoever asks, though what it started is', () => {
    const rows = [row(10, 1, 100), row(20, 10, 200), row(30, 20, 300)];
    expect(select(rows, { worker, spare: new Set([20]) })).toEqual([10, 30]);
  });
});

const pid = fc.integer({ min: 1, max: 12 });
const rows = fc.uniqueArray(
  fc.record({ pid, ppid: pid, start: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }) }),
  { selector: (candidate) => candidate.pid },
);

test('in any process table, every member is held, the worker, or younger than a parent that is a member or the worker', () => {
  fc.assert(
    fc.property(
      rows,
      pid,
      fc.integer({ min: 0, max: 20 }),
      fc.array(pid),
      fc.array(pid),
      (table, who, start, held, not) => {
        const snapshot = table.map((candidate) => row(candidate.pid, candidate.ppid, candidate.start));
        const query = {
          worker: { pid: who, start: BigInt(start) },
          held: new Set(held),
          spare: new Set(not),
        };
        const chosen = select(snapshot, query);
        const byPid = new Map(table.map((candidate) => [candidate.pid, candidate]));
        expect(new Set(chosen).size).toBe(chosen.length);
        for (const member of chosen) {
          const it = byPid.get(member);
          const parent = byPid.get(it?.ppid ?? 0);
          const age = it?.start ?? Number.NaN;
          expect(query.spare.has(member)).toBe(false);
          // The worker may be gone, and its pid be held by another one in the job object.
          const below =
            (it?.ppid === who && start <= age) || (parent?.start ?? Number.POSITIVE_INFINITY) <= age;
          expect(query.held.has(member) || (member === who && age === start) || below).toBe(true);
        }
      },
    ),
  );
});

test('a recycled pid of the worker is never chosen', () => {
  fc.assert(
    fc.property(rows, pid, fc.integer({ min: 0, max: 20 }), (table, who, start) => {
      const snapshot = table.map((candidate) => row(candidate.pid, candidate.ppid, candidate.start));
      const occupant = table.find((candidate) => candidate.pid === who);
      const chosen = select(snapshot, { worker: { pid: who, start: BigInt(start) } });
      if (
        occupant &&
        occupant.start !== start &&
        occupant.ppid !== who &&
        !isBelow(table, who, occupant.ppid)
      )
        expect(chosen).not.toContain(who);
    }),
  );
});

/** Whether the chain of parents leads to the worker's pid: then even its new occupant may stem from the old one. */
function isBelow(table: readonly { pid: number; ppid: number }[], who: number, from: number): boolean {
  const seen = new Set<number>();
  for (let at = from; !seen.has(at); ) {
    if (at === who) return true;
    seen.add(at);
    const parent = table.find((candidate) => candidate.pid === at);
    if (!parent) return false;
    at = parent.ppid;
  }
  return false;
}
