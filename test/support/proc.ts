/**
 * What /proc tells of a process (proc(5)). Elsewhere ps(1) tells the most needed of it; nothing of environments, folders and
 * open files.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { parsePs } from '../../runner-core/platform/darwin.ts';

export const hasProc = existsSync('/proc/self/stat');

export interface ProcStat {
  readonly pid: number;
  readonly command: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly threads: number;
  /** Clock ticks since boot. */
  readonly startTicks: string;
}

/** Undefined when there is no such process, or none that we may look at. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

const PS_COLUMNS = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'command'].flatMap((name) => ['-o', `${name}=`]);

/** Processes as ps(1) shows them, with their whole command line. It knows no sessions: groups serve. */
function readPs(...selection: readonly string[]): ProcStat[] {
  let text = '';
  try {
    text = execFileSync('/bin/ps', [...selection, '-ww', ...PS_COLUMNS], {
      env: { LC_ALL: 'C', TZ: 'UTC0' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    // It exits 1 where no process matches.
  }
  return parsePs(text).map(({ row, command }) => ({
    pid: row.pid,
    command,
    state: row.zombie ? 'Z' : row.stopped ? 'T' : 'S',
    ppid: row.ppid,
    pgrp: row.pgid,
    session: row.sid,
    threads: 1,
    startTicks: String(row.start),
  }));
}

/** Every process that there is. */
function readAll(): ProcStat[] {
  if (!hasProc) return readPs('-ax');
  return listPids().flatMap((pid) => readStat(pid) ?? []);
}

export function readStat(pid: number): ProcStat | undefined {
  if (!hasProc) return readPs('-p', String(pid))[0];
  const line = readProc(pid, 'stat');
  if (line === undefined) return undefined;
  // The command may hold spaces and parentheses: fields are counted from the last one.
  const end = line.lastIndexOf(')');
  const fields = line.slice(end + 2).split(' ');
  const [state = '?', ppid, pgrp, session] = fields;
  return {
    pid,
    command: line.slice(line.indexOf('(') + 1, end),
    state,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    session: Number(session),
    threads: Number(fields[17]),
    startTicks: fields[19] ?? '',
  };
}

/** False for a zombie: it has ended, and only its parent has not looked. One with threads left has not ended yet. */
export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  if (stat === undefined) return false;
  return (stat.state !== 'Z' && stat.state !== 'X') || stat.threads > 1;
}

/** Names one process for good, as a pid alone does not: pid and start time. Undefined when there is no such process. */
export function identityOf(pid: number): string | undefined {
  const stat = readStat(pid);
  return stat && `${pid}@${stat.startTicks}`;
}

/** True while the very process of that identity lives. */
export function isAliveAs(pid: number, identity: string): boolean {
  return isAlive(pid) && identityOf(pid) === identity;
}

/** Whether a process has ordered what a signal does, by its number, to catch or to ignore it; true where nothing tells. */
export function disposesOf(pid: number, signal: number): boolean {
  if (!hasProc) return true;
  const masks = readProc(pid, 'status')?.matchAll(/^Sig(?:Cgt|Ign):\s*([0-9a-f]+)$/gm) ?? [];
  return [...masks].some(([, mask]) => ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n);
}

export function listPids(): number[] {
  if (!hasProc) return readPs('-ax').map(({ pid }) => pid);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The environment at exec; undefined for a process that is gone or not ours. */
export function readEnviron(pid: number): ReadonlyMap<string, string> | undefined {
  const text = readProc(pid, 'environ');
  if (text === undefined) return undefined;
  return new Map(
    text
      .split('\0')
      .filter(Boolean)
      .map((entry) => {
        const at = entry.indexOf('=');
        return [entry.slice(0, at), entry.slice(at + 1)];
      }),
  );
}

export function commandLineOf(pid: number): string {
  if (!hasProc) return readPs('-p', String(pid))[0]?.command ?? '';
  return (readProc(pid, 'cmdline') ?? '').split('\0').join(' ').trim();
}

export function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Open descriptors and what they point to. Empty for a process that is gone. */
export function openFilesOf(pid: number): ReadonlyMap<number, string> {
  const open = new Map<number, string>();
  let names: string[] = [];
  try {
    names = readdirSync(`/proc/${pid}/fd`);
  } catch {
    return open;
  }
  for (const name of names) {
    try {
      open.set(Number(name), readlinkSync(`/proc/${pid}/fd/${name}`));
    } catch {
      // closed since it was listed
    }
  }
  return open;
}

/** Every living process below `root` by parent pid, nearest first. */
export function descendantsOf(root: number): number[] {
  const stats = readAll().filter(({ state }) => state !== 'Z');
  const found = [root];
  for (const parent of found) {
    for (const stat of stats) if (stat.ppid === parent) found.push(stat.pid);
  }
  return found.slice(1);
}
