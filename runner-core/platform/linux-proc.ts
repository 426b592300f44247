/** What /proc tells of single processes (https://man7.org/linux/man-pages/man5/proc.5.html). */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { ProcessRow } from '../job/tree.ts';

export interface StatRow extends ProcessRow {
  readonly stopped: boolean;
  /** Its first thread has ended and others go on: state `Z` all the same. */
  readonly headless: boolean;
}

/** Longer than any: 52 numbers and a name of 15 characters. One read gives all of it. */
const statLine = Buffer.alloc(4096);

function readStatLine(pid: number): string {
  const fd = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return statLine.toString('latin1', 0, readSync(fd, statLine));
  } finally {
    closeSync(fd);
  }
}

export function readStat(pid: number): StatRow | undefined {
  let line: string;
  try {
    line = readStatLine(pid);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  // The command name may hold anything, also `)`: what follows its last one is regular (proc(5)).
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  const field = (number: number): number => Number(fields[number - 3]);
  const headless = state === 'Z' && field(20) > 1;
  return {
    pid,
    ppid: field(4),
    pgid: field(5),
    sid: field(6),
    start: field(22),
    zombie: (state === 'Z' && !headless) || state === 'X',
    stopped: state === 'T' || state === 't',
    headless,
  };
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Gone meanwhile, or another user's: no fact.
    return undefined;
  }
}

export function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`);
}

/** Children of any thread; one that is born or dies meanwhile may be missed (proc_pid_children(5)). */
export function childrenOf(pid: number): number[] | undefined {
  try {
    return threadsOf(pid).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    // Gone meanwhile, or not told.
    return undefined;
  }
}

/**
 * Where a process shows its memory and descriptors. Those of a first thread that has ended are gone; the other threads
 * still show them.
 */
export function viewOf(pid: number): string {
  try {
    const other = readStat(pid)?.headless ? threadsOf(pid).find((task) => task !== String(pid)) : undefined;
    if (other !== undefined) return `/proc/${pid}/task/${other}`;
  } catch {
    // Gone meanwhile.
  }
  return `/proc/${pid}`;
}

export function descriptorsOf(view: string): string[] {
  try {
    return readdirSync(`${view}/fd`);
  } catch {
    // Gone, or another user's: no fact.
    return [];
  }
}

export function isSameFile(path: string, file: { readonly dev: number; readonly ino: number }): boolean {
  try {
    const stat = statSync(path);
    return stat.dev === file.dev && stat.ino === file.ino;
  } catch {
    // Closed, gone, or another user's: no fact.
    return false;
  }
}
