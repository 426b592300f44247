import type { ProcessRow } from '../job/tree.ts';
import { JOB_ID_ENV, SUPERVISOR_ENV } from '../limits.ts';
import type { ProcessTable } from './process-table.ts';

/** One line of `ps`: the row, and the command with the environment behind it, as far as the system shows it. */
export interface PsLine {
  readonly row: ProcessRow & { readonly stopped: boolean };
  readonly command: string;
}

/** Each with a flag of its own: POSIX takes all that follows `=` in one argument for a heading (ps, -o). */
const COLUMNS = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'command'].flatMap((name) => ['-o', `${name}=`]);
const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+ +\S+ +\d+ +[\d:]+ +\d{4})(?:\s+(.*))?$/;

/**
 * Parses the output of `TZ=UTC0 ps`, with these columns and no heading. Sessions are not shown there: groups serve.
 */
export function parsePs(output: string): PsLine[] {
  return output.split('\n').flatMap((line) => {
    const [, pid, ppid, pgid, stat = '', started = '', command = ''] = LINE.exec(line) ?? [];
    // One zone for all who ask, however theirs is set: the number is part of an identity.
    const start = Date.parse(`${started} UTC`) / 1000;
    if (pid === undefined || !Number.isFinite(start)) return [];
    const row = {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      sid: Number(pgid),
      start,
      zombie: stat.startsWith('Z'),
      stopped: stat.startsWith('T'),
    };
    return [{ row, command }];
  });
}

/** What a program prints; nothing where it cannot be run. */
export type Run = (program: string, args: readonly string[]) => Promise<string>;

const runProgram: Run = async (program, args) => {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    // ps exits 1 where no process matches: what it printed is the answer.
    execFile(
      program,
      [...args],
      { env: { LC_ALL: 'C', TZ: 'UTC0' }, maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => resolve(stdout),
    );
  });
};

/**
 * The process table of macOS, and of any POSIX system whose ps(1) knows `lstart`. Start times have whole seconds.
 * The system hides the environment of its own programs, also from their user: such a worker carries no mark to be seen.
 */
export function createDarwinTable(run: Run): ProcessTable {
  let bootName: Promise<string> | undefined;
  let latest = new Map<number, PsLine>();

  async function look(selection: readonly string[]): Promise<PsLine[]> {
    return parsePs(await run('/bin/ps', [...selection, '-E', '-ww', ...COLUMNS]));
  }

  /** `unreadable` where ps does not even show who asks: sandboxes let nobody run it, since it is set-user-id. */
  async function lookAt(pid: number): Promise<PsLine | 'unreadable' | undefined> {
    const lines = await look(['-p', `${pid},${process.pid}`]);
    const found = (wanted: number): PsLine | undefined => lines.find(({ row }) => row.pid === wanted);
    return found(pid) ?? (found(process.pid) ? undefined : 'unreadable');
  }

  async function seen(pid: number): Promise<PsLine | undefined> {
    const line = await lookAt(pid);
    return line === 'unreadable' ? undefined : line;
  }

  function variable(pid: number, name: string): string | undefined {
    return new RegExp(`\\s${name}=(\\S+)`).exec(latest.get(pid)?.command ?? '')?.[1];
  }

  /** Not by the time of the boot where there is better: that moves whenever the clock is set. */
  async function nameBoot(): Promise<string> {
    const session = (await run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'])).trim();
    if (/^[\w-]+$/.test(session)) return session;
    return /sec = (\d+)/.exec(await run('/usr/sbin/sysctl', ['-n', 'kern.boottime']))?.[1] ?? 'unknown-boot';
  }

  function boot(): Promise<string> {
    bootName ??= nameBoot();
    return bootName;
  }

  return {
    boot,

    identify: async (pid) => {
      const line = await seen(pid);
      return line ? `${await boot()}/darwin/${line.row.start}` : undefined;
    },

    groupOf: async (pid) => (await seen(pid))?.row.pgid,

    startOf: (identity) => Number(identity.split('/')[2]),

    locate: async (pid, identity, known) => {
      const line = await lookAt(pid);
      if (line === 'unreadable') return { state: 'unknown' };
      if (!line || line.row.zombie) return { state: 'gone' };
      const [recordedBoot, , start] = identity?.split('/') ?? [];
      const same =
        identity === undefined
          ? known !== undefined &&
            line.row.start * 1000 >= known.startedAfterMs - 3000 &&
            line.row.start * 1000 <= known.startedBeforeMs + 3000
          : recordedBoot === (await boot()) && Number(start) === line.row.start;
      return same ? { state: 'alive', pid, stopped: line.row.stopped } : { state: 'gone' };
    },

    isAlive: async (row) => {
      const now = (await seen(row.pid))?.row;
      return now !== undefined && !now.zombie && now.start === row.start;
    },

    list: async () => {
      const lines = await look(['-ax']);
      latest = new Map(lines.map((line) => [line.row.pid, line]));
      return lines.map((line) => line.row);
    },

    below: () => undefined,

    // Without fdinfo nothing tells an inherited descriptor from one of Node's own.
    inheritedDescriptors: () => [],

    marks: () => ({
      jobOf: (pid) => variable(pid, JOB_ID_ENV),
      isSupervisor: (pid) => variable(pid, SUPERVISOR_ENV) !== undefined,
      opensLog: () => false,
      writesLog: () => false,
    }),
  };
}

export const darwinTable: ProcessTable = createDarwinTable(runProgram);
