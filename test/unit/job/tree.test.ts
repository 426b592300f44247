import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ProcessMarks,
  type ProcessRow,
  selectTree,
  type TreeQuery,
} from '../../../runner-core/job/tree.ts';
import { JOB, machines, marksOf, type Process, queryOn, WORKER } from './machine.ts';

const OTHER = '20261130T121741Z-0000000f';
const NO_MARKS: ProcessMarks = {
  jobOf: () => undefined,
  isSupervisor: () => false,
  opensLog: () => false,
  writesLog: () => false,
};

const pidsOf = (rows: readonly ProcessRow[]): number[] => rows.map((row) => row.pid).sort((a, b) => a - b);
const living = (all: readonly Process[]) => all.filter((process) => !process.zombie);

function row(pid: number, ppid: number, rest: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, ppid, pgid: 100, sid: 100, start: 1000 + pid, zombie: false, ...rest };
}
/** A process in a session and group of its own. */
const apart = (pid: number, ppid: number, rest: Partial<ProcessRow> = {}): ProcessRow =>
  row(pid, ppid, { pgid: pid, sid: pid, ...rest });

const worker = apart(WORKER, 10, { start: 1000 });
const query: TreeQuery = {
  jobId: JOB,
  worker: { pid: WORKER, start: 1000, group: true },
  reaperPid: 10,
  spare: new Set([10]),
};
const marked = (marks: Readonly<Record<number, string>>): ProcessMarks => ({
  ...NO_MARKS,
  jobOf: (pid) => marks[pid],
});

describe('on any machine', () => {
  test('a supervised tree is exactly what the worker left alive, wherever it went, and no process of anybody else', () => {
    fc.assert(
      fc.property(machines(true), (all) => {
        const selected = selectTree(all, queryOn(true), marksOf(all));
        expect(pidsOf(selected)).toEqual(pidsOf(living(all).filter(({ owner }) => owner === 'ours')));
      }),
      { numRuns: 500 },
    );
  });

  test('the tree of a dead supervisor holds no process of anybody else', () => {
    fc.assert(
      fc.property(machines(false), (all) => {
        for (const { pid } of selectTree(all, queryOn(false), marksOf(all)))
          expect(all.find((process) => process.pid === pid)?.owner).toBe('ours');
      }),
      { numRuns: 500 },
    );
  });

  test('the tree of a dead supervisor holds the children of the worker, their children, and all that carry its mark', () => {
    fc.assert(
      fc.property(machines(false), (all) => {
        const selected = new Set(pidsOf(selectTree(all, queryOn(false), marksOf(all))));
        for (const process of living(all)) {
          if (process.owner === 'ours' && (!process.orphan || process.mark === JOB))
            expect(selected).toContain(process.pid);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the order of the process table does not matter', () => {
    const shuffled = machines(true).chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const one = selectTree(all, queryOn(true), marksOf(all));
        expect(pidsOf(selectTree(other, queryOn(true), marksOf(all)))).toEqual(pidsOf(one));
      }),
    );
  });
});

/** Rows and marks without any sense in them: pids are reused, parents form rings, everything contradicts itself. */
const nonsense = fc.record({
  rows: fc.uniqueArray(
    fc.record({
      pid: fc.integer({ min: 90, max: 110 }),
      ppid: fc.oneof(fc.constantFrom(0, 1, 10), fc.integer({ min: 90, max: 110 })),
      pgid: fc.integer({ min: 90, max: 110 }),
      sid: fc.integer({ min: 90, max: 110 }),
      start: fc.integer({ min: 995, max: 1005 }),
      zombie: fc.boolean(),
    }),
    { selector: ({ pid }) => pid, maxLength: 20 },
  ),
  marks: fc.dictionary(fc.integer({ min: 90, max: 110 }).map(String), fc.constantFrom(JOB, OTHER)),
  supervisors: fc.uniqueArray(fc.integer({ min: 90, max: 110 }), { maxLength: 4 }),
  spare: fc.uniqueArray(fc.integer({ min: 90, max: 110 }), { maxLength: 4 }),
  worker: fc.option(fc.record({ pid: fc.constant(100), start: fc.constant(1000), group: fc.boolean() }), {
    nil: undefined,
  }),
  reaperPid: fc.constantFrom(10, undefined),
});

describe('on a process table without any sense', () => {
  test('never is there a spared process, one older than the worker, a zombie, or one twice', () => {
    fc.assert(
      fc.property(nonsense, ({ rows, marks, supervisors, spare, worker, reaperPid }) => {
        const selected = selectTree(
          rows,
          { jobId: JOB, worker, reaperPid, spare: new Set(spare) },
          { ...NO_MARKS, jobOf: (pid) => marks[pid], isSupervisor: (pid) => supervisors.includes(pid) },
        );
        for (const { pid, start, zombie } of selected) {
          expect(spare).not.toContain(pid);
          expect(zombie).toBe(false);
          if (worker) expect(start).toBeGreaterThanOrEqual(worker.start);
        }
        expect(new Set(pidsOf(selected)).size).toBe(selected.length);
      }),
      { numRuns: 1000 },
    );
  });

  test("outside the worker's session never is there a supervisor, or one that carries another job's mark", () => {
    fc.assert(
      fc.property(nonsense, ({ rows, marks, supervisors, spare, worker, reaperPid }) => {
        const selected = selectTree(
          rows,
          { jobId: JOB, worker, reaperPid, spare: new Set(spare) },
          { ...NO_MARKS, jobOf: (pid) => marks[pid], isSupervisor: (pid) => supervisors.includes(pid) },
        );
        for (const { pid, sid } of selected) {
          if (worker?.group && sid === worker.pid) continue;
          expect(marks[pid]).not.toBe(OTHER);
          expect(supervisors).not.toContain(pid);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('nobody at all is there without a worker, a reaper, or a mark', () => {
    fc.assert(
      fc.property(nonsense, ({ rows, spare }) => {
        expect(selectTree(rows, { jobId: JOB, spare: new Set(spare) }, NO_MARKS)).toEqual([]);
      }),
    );
  });
});

describe('the tree', () => {
  test('holds the worker, its children and theirs, parents before children', () => {
    const rows = [row(103, 102), row(102, 101), row(101, WORKER), worker];
    expect(selectTree(rows, query, NO_MARKS).map(({ pid }) => pid)).toEqual([WORKER, 101, 102, 103]);
  });

  test('does not hold what took over the pid of a worker that is gone', () => {
    const reused = apart(WORKER, 1, { start: 5000 });
    const child = apart(101, WORKER, { start: 5001 });
    const left = { ...query, worker: { pid: WORKER, start: 1000, group: false } };
    expect(selectTree([reused, child], left, NO_MARKS)).toEqual([]);
  });

  test('does not hold the group of the worker where that is no longer proven to be its own', () => {
    const rows = [row(101, 1), row(102, 1)];
    expect(pidsOf(selectTree(rows, query, NO_MARKS))).toEqual([101, 102]);
    const worker = { pid: WORKER, start: 1000, group: false };
    expect(selectTree(rows, { ...query, worker }, NO_MARKS)).toEqual([]);
  });

  test('holds a child that left the group, and the whole session that it leads', () => {
    const rows = [worker, apart(101, WORKER), row(102, 1, { sid: 101, pgid: 102 })];
    expect(pidsOf(selectTree(rows, query, NO_MARKS))).toEqual([WORKER, 101, 102]);
  });

  test('holds an orphan with a scrubbed environment that its supervisor adopted', () => {
    expect(pidsOf(selectTree([apart(101, 10)], query, NO_MARKS))).toEqual([101]);
    expect(selectTree([apart(101, 1)], query, NO_MARKS)).toEqual([]);
  });

  test('holds an orphan elsewhere that carries the mark or writes the log, and what is below it', () => {
    const rows = [apart(101, 1), apart(102, 101)];
    expect(pidsOf(selectTree(rows, query, marked({ 101: JOB })))).toEqual([101, 102]);
    const writes = { ...NO_MARKS, writesLog: (pid: number) => pid === 101 };
    expect(pidsOf(selectTree(rows, query, writes))).toEqual([101, 102]);
  });

  test('is found by its marks alone where no worker was recorded', () => {
    const found = selectTree(
      [apart(101, 1), apart(102, 1)],
      { jobId: JOB, spare: new Set() },
      marked({ 101: JOB }),
    );
    expect(pidsOf(found)).toEqual([101]);
  });

  test('goes on below a zombie, which is itself left out', () => {
    const rows = [{ ...worker, zombie: true }, row(101, WORKER)];
    expect(pidsOf(selectTree(rows, query, NO_MARKS))).toEqual([101]);
  });

  test('does not hold whoever asks, also from inside the job', () => {
    const asking = { ...query, spare: new Set([10, 101]) };
    expect(pidsOf(selectTree([worker, row(101, WORKER)], asking, marked({ 101: JOB })))).toEqual([WORKER]);
  });

  test("holds a process of the worker's own session also under another job's mark, or as a supervisor: it cannot be one", () => {
    const rows = [worker, row(101, WORKER), row(102, WORKER, { pgid: 102 }), row(103, 101)];
    const marks = { ...marked({ 101: OTHER, 103: OTHER }), isSupervisor: (pid: number) => pid === 102 };
    expect(pidsOf(selectTree(rows, query, marks))).toEqual([WORKER, 101, 102, 103]);
  });

  test('spares a job that was started from inside by another runner, whose supervisor carries our mark', () => {
    const rows = [
      worker,
      row(101, WORKER),
      row(102, 1, { sid: 99, pgid: 99 }),
      apart(103, 102),
      row(104, 103, { sid: 103, pgid: 103 }),
    ];
    const marks = marked({ [WORKER]: JOB, 101: JOB, 102: JOB, 103: OTHER, 104: OTHER });
    expect(pidsOf(selectTree(rows, query, marks))).toEqual([WORKER, 101]);
  });
});
