/** A machine with processes, for properties of the tree: who is there, and whose it truly is. */
import * as fc from 'fast-check';
import type { ProcessMarks, ProcessRow, TreeQuery } from '../../../runner-core/job/tree.ts';

export const JOB = '20261130T121741Z-00000001';
export const INIT = 1;
export const SUPERVISOR = 10;
export const WORKER = 100;
const WORKER_START = 1000;

export interface Process extends ProcessRow {
  readonly owner: 'stranger' | 'ours' | 'nested job';
  /** The job that its environment names. */
  readonly mark: string | undefined;
  readonly supervises: boolean;
  /** Whether it was left by its parent, so that it hangs below init or below its supervisor. */
  readonly orphan: boolean;
}

/** One thing that happens: a process starts another one, as chosen by `parent` among those there are. */
interface Spawn {
  readonly parent: number;
  readonly what: 'child' | 'nested job' | 'stranger';
  readonly setsid: boolean;
  readonly setpgid: boolean;
  readonly scrubbed: boolean;
  readonly orphan: boolean;
  readonly zombie: boolean;
}

const rarely = fc.oneof(
  { weight: 3, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

const spawns: fc.Arbitrary<Spawn> = fc.record({
  parent: fc.nat(),
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant('child' as const) },
    { weight: 1, arbitrary: fc.constantFrom('nested job' as const, 'stranger' as const) },
  ),
  setsid: rarely,
  setpgid: rarely,
  scrubbed: rarely,
  orphan: rarely,
  zombie: rarely,
});

/**
 * A machine on which a worker was started and other things happened since. `supervised`: its supervisor lives and
 * adopts orphans; otherwise they went to init.
 */
export function machines(supervised: boolean): fc.Arbitrary<readonly Process[]> {
  return fc.array(spawns, { maxLength: 30 }).map((list) => build(list, supervised));
}

function build(list: readonly Spawn[], supervised: boolean): readonly Process[] {
  const plain = { zombie: false, mark: undefined, supervises: false, orphan: false } as const;
  const supervisor: Process = {
    ...plain,
    pid: SUPERVISOR,
    ppid: INIT,
    pgid: 9,
    sid: 9,
    start: 900,
    owner: 'stranger',
    supervises: true,
  };
  const worker: Process = {
    ...plain,
    pid: WORKER,
    ppid: supervised ? SUPERVISOR : INIT,
    pgid: WORKER,
    sid: WORKER,
    start: WORKER_START,
    owner: 'ours',
    mark: JOB,
  };
  const init: Process = { ...plain, pid: INIT, ppid: 0, pgid: 1, sid: 1, start: 0, owner: 'stranger' };
  const all: Process[] = supervised ? [init, supervisor, worker] : [init, worker];
  let nextPid = WORKER;
  let clock = WORKER_START;
  const reaperOf = (process: Process): number => {
    if (process.owner === 'nested job') return nestedSupervisorOf.get(process.pid) ?? INIT;
    return supervised && process.owner === 'ours' ? SUPERVISOR : INIT;
  };
  const nestedSupervisorOf = new Map<number, number>();

  for (const spawn of list) {
    // A zombie starts nothing, and neither do supervisors, beyond their workers.
    const parents = all.filter((process) => !process.zombie && !process.supervises);
    const parent = parents[spawn.parent % parents.length] ?? worker;
    const pid = ++nextPid;
    const start = ++clock;
    if (spawn.what === 'stranger' || parent.owner === 'stranger') {
      all.push({ ...plain, pid, ppid: INIT, pgid: pid, sid: pid, start, owner: 'stranger' });
    } else if (spawn.what === 'nested job' && parent.owner === 'ours') {
      // Its supervisor left by way of a shell that led its session and is gone; its worker leads one.
      const inner = ++nextPid;
      all.push({
        ...plain,
        pid,
        ppid: supervised ? SUPERVISOR : INIT,
        pgid: pid + 100_000,
        sid: pid + 100_000,
        start,
        owner: 'nested job',
        supervises: true,
      });
      all.push({
        ...plain,
        pid: inner,
        ppid: pid,
        pgid: inner,
        sid: inner,
        start,
        owner: 'nested job',
        mark: `20261130T121741Z-${String(pid).padStart(8, '0')}`,
      });
      nestedSupervisorOf.set(inner, pid);
    } else {
      const nested = nestedSupervisorOf.get(parent.pid);
      if (nested !== undefined) nestedSupervisorOf.set(pid, nested);
      all.push({
        pid,
        ppid: spawn.orphan ? reaperOf(parent) : parent.pid,
        pgid: spawn.setsid || spawn.setpgid ? pid : parent.pgid,
        sid: spawn.setsid ? pid : parent.sid,
        start,
        zombie: spawn.zombie,
        owner: parent.owner,
        mark: spawn.scrubbed ? undefined : parent.mark,
        supervises: false,
        orphan: spawn.orphan || parent.orphan,
      });
    }
  }
  return all;
}

export function marksOf(all: readonly Process[]): ProcessMarks {
  const find = (pid: number) => all.find((process) => process.pid === pid);
  return {
    jobOf: (pid) => find(pid)?.mark,
    isSupervisor: (pid) => find(pid)?.supervises ?? false,
    opensLog: () => false,
    writesLog: () => false,
  };
}

export function queryOn(supervised: boolean): TreeQuery {
  return {
    jobId: JOB,
    worker: { pid: WORKER, start: WORKER_START, group: true },
    reaperPid: supervised ? SUPERVISOR : undefined,
    spare: new Set(supervised ? [SUPERVISOR] : []),
  };
}
