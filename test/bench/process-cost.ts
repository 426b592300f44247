/** What processes cost, out of /proc (proc(5)). Linux. */
import { readdirSync, readFileSync } from 'node:fs';

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Gone meanwhile.
    return '';
  }
}

function tasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Kibibytes that end with the process, and its share of what it has in common with others (PSS). */
export function pssKib(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? Number.NaN);
}

/** How often any thread of the process was put on a processor and off it again. */
export function contextSwitches(pid: number): number {
  return tasks(pid).reduce((sum, task) => {
    const status = read(`/proc/${pid}/task/${task}/status`);
    return [...status.matchAll(/ctxt_switches:\s+(\d+)/g)].reduce((all, [, n]) => all + Number(n), sum);
  }, 0);
}

/** Milliseconds of processor time that the living threads of the process have had, to the microsecond. */
export function cpuMs(pid: number): number {
  return tasks(pid).reduce(
    (sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0] || 0) / 1e6,
    0,
  );
}
