/** Jobs as these tests ask about them and harm them. Workers are programs of Node's, so that no other tool is needed. */
import { join } from 'node:path';
import {
  identify,
  isRunning,
  listProcesses,
  startOf,
  terminate,
} from '../../../runner-core/platform/win32-process.ts';
import { eventually, PATIENCE_MS } from './patience.ts';
import { APP, type Job, type PidRecord, pidsIn, textOf } from './temp-base.ts';

/** The argv of a Node one-liner. `say(text)` writes to the log at once; `fs`, `cp` are Node's own. */
export function js(script: string, ...args: readonly string[]): string[] {
  const prelude = "const fs=require('fs'),cp=require('child_process'),say=(t)=>fs.writeSync(1,t+'\\n');";
  return [process.execPath, '-e', prelude + script, ...args];
}

/** The argv of a program in test/windows/fixtures. */
export function fixture(name: string, ...args: readonly string[]): string[] {
  return [process.execPath, join(APP, 'fixtures', name), ...args];
}

/** Prints its pid and lives on. */
export const lives = js("say('ready '+process.pid);setInterval(()=>{},1e6)");

export function logOf(job: Job): string {
  return textOf(job.dir, 'out.log') ?? '';
}

/** The pids that the worker's `ready …` line names. */
export function ready(job: Job): Promise<[number, ...number[]]> {
  return eventually(() => {
    const [first, ...others] =
      /^ready ([\d ]+)\r?\n/m.exec(logOf(job))?.[1]?.trim().split(' ').map(Number) ?? [];
    return first === undefined ? undefined : ([first, ...others] as [number, ...number[]]);
  });
}

/** The terminal word, from the disk alone. */
export function settled(job: Job, deadlineMs = PATIENCE_MS): Promise<string> {
  return eventually(() => textOf(job.dir, 'status')?.trim(), deadlineMs);
}

export function reasonOf(job: Job): string {
  return textOf(job.dir, 'reason')?.trim() ?? '';
}

export function pidsOf(job: Job): PidRecord {
  const record = pidsIn(job.dir);
  if (!record) throw new Error(`no pid record in ${job.dir}`);
  return record;
}

export function isAlive(pid: number): boolean {
  const row = listProcesses().find((candidate) => candidate.pid === pid);
  return row !== undefined && isRunning(row);
}

/** Ends one process, and waits until it is gone. */
export async function kill(pid: number): Promise<void> {
  const start = startOf(identify(pid));
  if (start === undefined) return;
  terminate({ pid, start });
  await eventually(() => !isRunning({ pid, start }));
}

/** Ends a process and all that its pid leads to, as `taskkill /T /F` and the tree-kill package do. */
export async function killTree(pid: number): Promise<void> {
  const rows = listProcesses();
  const tree = [pid];
  for (const parent of tree) {
    for (const row of rows) if (row.ppid === parent && !tree.includes(row.pid)) tree.push(row.pid);
  }
  for (const member of tree.reverse()) await kill(member);
}

export async function gone(pids: readonly number[], deadlineMs = PATIENCE_MS): Promise<void> {
  await eventually(() => pids.every((pid) => !isAlive(pid)), deadlineMs);
}

/** Declares `until(then)` in a worker: goes on once the file is there. */
export const waitsFor = (name: string): string =>
  `const until=(then)=>{const t=setInterval(()=>{if(fs.existsSync(${JSON.stringify(name)})){clearInterval(t);then()}},30)};`;

export function recordPath(job: Job): string {
  return join(job.dir, 'pid');
}

export function metaOf(job: Job): Record<string, unknown> & { started_at: string; worker_argv: string[] } {
  return JSON.parse(textOf(job.dir, 'meta.json') ?? '');
}
