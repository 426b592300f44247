import { type Caller, forPeople, type LogStream, RunnerError } from '../../index.ts';
import type { Answer } from '../render.ts';
import type { Output } from '../terminal.ts';
import { LogCleaner } from './log-cleaner.ts';

const DEFAULT_BYTES = 16 * 1024;
const CHUNK_BYTES = 64 * 1024;

export interface LogWish {
  readonly job: string;
  readonly skill?: string | undefined;
  readonly offset?: number | undefined;
  readonly max_bytes?: number | undefined;
  readonly wait_secs?: number | undefined;
}

export interface LogLook {
  /** Lines; undefined for the usual page. */
  readonly tail: number | undefined;
  readonly all: boolean;
  readonly follow: boolean;
  /** The bytes as they are, also on a terminal. */
  readonly raw: boolean;
}

export function lookOf(shown: Readonly<Record<string, string | boolean>>): LogLook {
  const { tail } = shown;
  if (tail !== undefined && !/^\d{1,9}$/.test(String(tail))) {
    throw new RunnerError('usage', `--tail takes a whole number of lines, not ${JSON.stringify(tail)}`);
  }
  return {
    tail: tail === undefined ? undefined : Number(tail),
    all: shown.all === true,
    follow: shown.follow === true,
    raw: shown.raw === true,
  };
}

/** Writes a log as it is read: never more of it in memory than a chunk. In a pipe the bytes are as they are. */
export async function showLog(
  wish: LogWish,
  look: LogLook,
  options: { caller: Caller; output: Output },
): Promise<Answer> {
  const openLog = await forPeople.openLog();
  const log = await openLog(wish, options.caller);
  const screen = options.output.screen();
  const cleaner = screen && !look.raw ? new LogCleaner() : undefined;
  const write = (data: Buffer): boolean => options.output.write(cleaner ? cleaner.push(data) : data);
  const state = await copy(log, wish, look, write);
  if (cleaner) options.output.write(cleaner.end());
  const news = screen && look.follow && state !== undefined ? [`the job is ${state}`] : [];
  return { stdout: '', stderr: news, exitCode: 0 };
}

/** Gives the state with which following ended; undefined where nobody reads any more, or nothing was followed. */
async function copy(
  log: LogStream,
  wish: LogWish,
  look: LogLook,
  write: (data: Buffer) => boolean,
): Promise<string | undefined> {
  let offset = startOf(log, wish, look);
  let room = wish.max_bytes ?? Number.POSITIVE_INFINITY;
  for (;;) {
    const data = log.read(offset, Math.min(CHUNK_BYTES, room));
    offset += data.length;
    room -= data.length;
    if (data.length > 0 && !write(data)) return undefined;
    if (room <= 0) return undefined;
    if (data.length > 0) continue;
    if (!look.follow) return undefined;
    // Cut back to its cap, or begun anew by the worker.
    offset = Math.min(offset, log.size());
    const state = await log.growth(offset);
    if (state !== 'running' && log.size() <= offset) return state;
  }
}

function startOf(log: LogStream, wish: LogWish, look: LogLook): number {
  if (wish.offset !== undefined) return wish.offset;
  if (look.all) return 0;
  if (look.tail !== undefined) return log.startOfLastLines(look.tail);
  const from = Math.max(0, log.size() - (wish.max_bytes ?? DEFAULT_BYTES));
  if (from === 0) return 0;
  // Not in the middle of a character (UTF-8 continuation bytes).
  const first = log.read(from, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return from + Math.max(0, first);
}
