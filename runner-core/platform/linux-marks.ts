/** What /proc shows of a process besides its row: its environment at exec, and what it has open. */
import type { ProcessMarks } from '../job/tree.ts';
import { JOB_ID_ENV, SUPERVISOR_ENV } from '../limits.ts';
import { descriptorsOf, isSameFile, readText, viewOf } from './linux-proc.ts';

interface Shown {
  /** The folder under /proc. */
  readonly at: string;
  readonly environ: string | undefined;
}

function shownOf(pid: number): Shown {
  const at = `/proc/${pid}`;
  const environ = readText(`${at}/environ`);
  // None also for a thread of the kernel, and for another user's process. Without its first thread it is empty, or on
  // later kernels ESRCH.
  if (environ) return { at, environ };
  const view = viewOf(pid);
  return { at: view, environ: view === at ? environ : readText(`${view}/environ`) };
}

function variable({ environ }: Shown, name: string): string | undefined {
  return environ
    ?.split('\0')
    .find((entry) => entry.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}

/** The job that the environment of a process names. */
export function jobOf(pid: number): string | undefined {
  return variable(shownOf(pid), JOB_ID_ENV);
}

export function marks(log: { readonly dev: number; readonly ino: number } | undefined): ProcessMarks {
  const seen = new Map<number, Shown>();
  const shown = (pid: number): Shown => {
    const known = seen.get(pid) ?? shownOf(pid);
    seen.set(pid, known);
    return known;
  };
  const isLog = (pid: number, fd: string | number): boolean =>
    log !== undefined && isSameFile(`${shown(pid).at}/fd/${fd}`, log);
  return {
    jobOf: (pid) => variable(shown(pid), JOB_ID_ENV),
    isSupervisor: (pid) => variable(shown(pid), SUPERVISOR_ENV) !== undefined,
    opensLog: (pid) => log !== undefined && descriptorsOf(shown(pid).at).some((fd) => isLog(pid, fd)),
    writesLog: (pid) => isLog(pid, 1) || isLog(pid, 2),
  };
}
