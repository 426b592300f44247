import type { ProcessRow } from '../job/tree.ts';
import { JOB_ID_ENV, SUPERVISOR_ENV } from '../limits.ts';
import type { ProcessTable } from './process-table.ts';

/** One line of `ps`: the row, and the command with the environment behind it, as far as the system shows it. */
export interface PsLine {
  readonly row: ProcessRow & { readonly stopped: boolean };
  readonly command: string;
}

const COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=,command=';
const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+ +\S+ +\d+ +[\d:]+ +\d{4})(?:\s+(.*))?$/;

/**
 * Parses the output of `TZ=UTC0 ps -o pid=,ppid=,pgid=,stat=,lstart=,command=`. Sessions are not shown there: groups
 * serve.
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

async function run(program: string, args: readonly string[]): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    // ps exits 1 where no process matches: what it printed is the answer.
    execFile(
      program,
      args,
      { env: { LC_ALL: 'C', TZ: 'UTC0' }, maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => resolve(stdout),
    );
  });
}

let bootTime: Promise<string> | undefined;
let latest = new Map<number, PsLine>();

async function look(selection: readonly string[]): Promise<PsLine[]> {
  return parsePs(await run('/bin/ps', [...selection, '-E', '-ww', '-o', COLUMNS]));
}

async function lookAt(pid: number): Promise<PsLine | undefined> {
  return (await look(['-p', String(pid)]))[0];
}

function variable(pid: number, name: string): string | undefined {
  return new RegExp(`\\s${name}=(\\S+)`).exec(latest.get(pid)?.command ?? '')?.[1];
}

/** The process table of macOS, and of any POSIX system whose ps(1) knows `lstart`. Start times have whole seconds. */
export const darwinTable: ProcessTable = {
  boot: () => {
    bootTime ??= run('/usr/sbin/sysctl', ['-n', 'kern.boottime']).then(
      (text) => /sec = (\d+)/.exec(text)?.[1] ?? 'unknown-boot',
    );
    return bootTime;
  },

  identify: async (pid) => {
    const line = await lookAt(pid);
    return line ? `${await darwinTable.boot()}/darwin/${line.row.start}` : undefined;
  },

  groupOf: async (pid) => (await lookAt(pid))?.row.pgid,

  startOf: (identity) => Number(identity.split('/')[2]),

  locate: async (pid, identity, known) => {
    const line = await lookAt(pid);
    if (!line || line.row.zombie) return { state: 'gone' };
    const [boot, , start] = identity?.split('/') ?? [];
    const same =
      identity === undefined
        ? known !== undefined &&
          line.row.start * 1000 >= known.startedAfterMs - 3000 &&
          line.row.start * 1000 <= known.startedBeforeMs + 3000
        : boot === (await darwinTable.boot()) && Number(start) === line.row.start;
    return same ? { state: 'alive', pid, stopped: line.row.stopped } : { state: 'gone' };
  },

  isAlive: async (row) => {
    const now = (await lookAt(row.pid))?.row;
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
