import { readdirSync, readlinkSync } from 'node:fs';
import type { ProcessRow } from '../job/tree.ts';
import { jobOf, marks } from './linux-marks.ts';
import { allPids, childrenOf, readStat, readText } from './linux-proc.ts';
import type { Circumstances } from './port.ts';
import type { ProcessTable } from './process-table.ts';

/** The initial pid namespace has this fixed inode (include/linux/proc_ns.h, PROC_PID_INIT_INO). */
const INITIAL_PID_NAMESPACE = '4026531836';

/** Clock ticks a second in /proc; the kernel's user-visible USER_HZ is 100 on every architecture Node runs on. */
const TICKS_PER_SEC = 100;

/** include/uapi/asm-generic/fcntl.h; Node's constants do not name it. */
const O_CLOEXEC = 0o2000000;

function namespaceOf(pid: number | 'self'): string | undefined {
  try {
    return /\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[1];
  } catch {
    // Gone meanwhile, or another user's: no fact.
    return undefined;
  }
}

let bootId: string | undefined;
let namespace: string | undefined;

function boot(): string {
  bootId ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown-boot';
  return bootId;
}

function ownNamespace(): string {
  namespace ??= namespaceOf('self') ?? 'unknown-namespace';
  return namespace;
}

/**
 * The number that a process of another pid namespace has here, if it can be seen: the ticks of its start are the same
 * in every namespace, and NSpid (proc(5)) ends with its number in its own.
 */
function translate(pid: number, namespaceId: string, start: number): number | undefined {
  return allPids().find((candidate) => {
    if (namespaceOf(candidate) !== namespaceId || readStat(candidate)?.start !== start) return false;
    const numbers = /^NSpid:\s*(.*)$/m.exec(readText(`/proc/${candidate}/status`) ?? '')?.[1]?.split(/\s+/);
    return Number(numbers?.at(-1)) === pid;
  });
}

/** Epoch ms at which a process started, from the ticks since boot and the machine's uptime. */
function startedAtMs(row: ProcessRow): number | undefined {
  const uptimeSecs = Number(readText('/proc/uptime')?.split(' ')[0]);
  return Number.isFinite(uptimeSecs)
    ? Date.now() - (uptimeSecs - row.start / TICKS_PER_SEC) * 1000
    : undefined;
}

/** Tolerance for file time stamps (whole seconds, coarse clocks) against process starts. */
const START_SLACK_MS = 3000;

/** Whether circumstances prove that an unidentified process is, or is not, the recorded one. */
function fits(row: ProcessRow, known: Circumstances): 'yes' | 'no' | 'perhaps' {
  if (jobOf(row.pid) === known.jobId) return 'yes';
  const startedMs = startedAtMs(row);
  const inTime =
    startedMs !== undefined &&
    startedMs >= known.startedAfterMs - START_SLACK_MS &&
    startedMs <= known.startedBeforeMs + START_SLACK_MS;
  if (inTime) return 'yes';
  // The wall clock may have been set since; a supervisor of the reference still shows the command that started it.
  const command = readText(`/proc/${row.pid}/cmdline`)?.split('\0') ?? [];
  const mayBe = known.runId !== undefined && command.includes('start') && command.includes(known.runId);
  return startedMs === undefined || mayBe ? 'perhaps' : 'no';
}

/** The process table of Linux: /proc (https://man7.org/linux/man-pages/man5/proc.5.html). */
export const linuxTable: ProcessTable = {
  boot: async () => boot(),

  identify: async (pid) => {
    const row = readStat(pid);
    return row ? `${boot()}/${ownNamespace()}/${row.start}` : undefined;
  },

  groupOf: async (pid) => readStat(pid)?.pgid,

  startOf: (identity) => Number(identity.split('/')[2]),

  locate: async (pid, identity, known) => {
    if (identity === undefined) {
      const row = readStat(pid);
      if (!row || row.zombie) return { state: 'gone' };
      if (!known) return { state: 'unknown' };
      const verdict = fits(row, known);
      if (verdict === 'yes') return { state: 'alive', pid, stopped: row.stopped };
      return { state: verdict === 'no' ? 'gone' : 'unknown' };
    }
    const [recordedBoot, recordedNamespace, start] = identity.split('/');
    if (recordedBoot !== boot()) return { state: 'gone' };
    const here =
      recordedNamespace === ownNamespace() ? pid : translate(pid, recordedNamespace ?? '', Number(start));
    if (here === undefined) {
      // The initial namespace sees every process; any other one may just not see this.
      return { state: ownNamespace() === INITIAL_PID_NAMESPACE ? 'gone' : 'unknown' };
    }
    const row = readStat(here);
    if (!row || row.zombie || row.start !== Number(start)) return { state: 'gone' };
    return { state: 'alive', pid: here, stopped: row.stopped };
  },

  isAlive: async (row) => {
    const now = readStat(row.pid);
    return now !== undefined && !now.zombie && now.start === row.start;
  },

  list: async () => allPids().flatMap((pid) => readStat(pid) ?? []),

  below: (pid) => {
    const rows: ProcessRow[] = [];
    const parents = [pid];
    for (const parent of parents) {
      const children = childrenOf(parent);
      // Not of every kernel (CONFIG_PROC_CHILDREN).
      if (!children && parent === pid) return undefined;
      parents.push(...(children ?? []));
      rows.push(...(children ?? []).flatMap((child) => readStat(child) ?? []));
    }
    return rows;
  },

  inheritedDescriptors: () =>
    readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => {
        const flags = /^flags:\s*(\d+)/m.exec(readText(`/proc/self/fdinfo/${fd}`) ?? '')?.[1];
        return fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
      }),

  marks,
};
