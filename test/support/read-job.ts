/** Reads job directories as any third process would: from the disk alone. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';

export const TERMINAL_WORDS = ['done', 'failed', 'timeout', 'died-without-result'] as const;
export type TerminalWord = (typeof TERMINAL_WORDS)[number];

const metaSchema = z.looseObject({
  job_id: z.string(),
  skill: z.string(),
  run_id: z.string(),
  started_at: z.string(),
  worker_argv: z.array(z.string()),
  supervision: z.looseObject({}),
});
export type JobMeta = z.infer<typeof metaSchema>;

const pidSchema = z.looseObject({
  supervisor_pid: z.int(),
  worker_pid: z.int(),
  supervisor_pgid: z.int().optional(),
});
export type JobPids = z.infer<typeof pidSchema>;

/** The text of a file in the job directory, or undefined while it is not there. */
export function readJobFile(jobDir: string, name: string): string | undefined {
  const path = join(jobDir, name);
  try {
    // A FIFO, which some test may have put there, would be waited on for ever.
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** The terminal word, or undefined as long as there is none. */
export function readStatus(jobDir: string): TerminalWord | undefined {
  const word = readJobFile(jobDir, 'status')?.trim();
  return TERMINAL_WORDS.find((terminal) => terminal === word);
}

export function readReason(jobDir: string): string | undefined {
  return readJobFile(jobDir, 'reason')?.trim();
}

export function readLog(jobDir: string): string {
  return readJobFile(jobDir, 'out.log') ?? '';
}

export function readMeta(jobDir: string): JobMeta {
  return metaSchema.parse(parseJsonOfPython(readJobFile(jobDir, 'meta.json') ?? ''));
}

/** The supervisor that is on record, also of a job without a worker. */
export function readSupervisor(jobDir: string): number | undefined {
  try {
    const record = JSON.parse(readJobFile(jobDir, 'pid') ?? '');
    return z.object({ supervisor_pid: z.int() }).safeParse(record.there ?? record).data?.supervisor_pid;
  } catch {
    return undefined;
  }
}

/**
 * The whole `pid` record: undefined while it is not there, is torn, or names no worker (none could be launched). On a
 * cluster, the numbers are those of a node, and stand under \`there\`; every node of a test's cluster is this machine.
 */
export function readPids(jobDir: string): JobPids | undefined {
  try {
    const record = JSON.parse(readJobFile(jobDir, 'pid') ?? '');
    return pidSchema.safeParse(record.there ?? record).data;
  } catch {
    return undefined;
  }
}

export function readOutcome(jobDir: string): Readonly<Record<string, unknown>> | undefined {
  const text = readJobFile(jobDir, 'outcome.json');
  return text === undefined ? undefined : z.looseObject({}).parse(JSON.parse(text));
}

/** Python writes `Infinity`, which is not JSON; 1e999 is, and reads as the same number. */
export function parseJsonOfPython(text: string): unknown {
  return JSON.parse(text.replace(/(: )Infinity\b/g, '$11e999'));
}

/** Pids of the worker's `ready PID…` line, or undefined until it is there. */
export function readReady(jobDir: string, log = 'out.log'): [number, ...number[]] | undefined {
  const line = /^ready ([\d ]+)\n/m.exec(readJobFile(jobDir, log) ?? '')?.[1];
  if (line === undefined) return undefined;
  const [first, ...others] = line.trim().split(/ +/).map(Number);
  return first === undefined ? undefined : [first, ...others];
}

/** Every job directory below `root`, in order of name; links are not followed. */
export function jobDirsBelow(root: string): string[] {
  const found: string[] = [];
  const visit = (dir: string, depth: number): void => {
    for (const entry of listDirectory(dir)) {
      const path = join(dir, entry);
      if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) continue;
      if (basename(dirname(path)) === 'jobs') found.push(path);
      else if (depth > 0) visit(path, depth - 1);
    }
  };
  visit(root, 6);
  return found;
}

/** Permission bits of a path, as `0700`. */
export function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o7777).toString(8).padStart(4, '0');
}

/** Names in a directory, sorted; none when it is not there. */
export function listDirectory(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}
