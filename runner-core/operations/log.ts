import { watch } from 'node:fs';
import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { errnoOf, RunnerError } from '../errors.ts';
import type { JobState } from '../job/state.ts';
import { findJob } from '../store/find.ts';
import { fileOf, isOwnJobDir, jobIdOf } from '../store/job-dir.ts';
import { lstatIfAny, readOwnedPage } from '../store/owned-file.ts';
import { awaitJobs } from './await-jobs.ts';
import { jobRef, jobState, seconds, skillFilter } from './fields.ts';
import { type Caller, defineOperation, waitSecs } from './operation.ts';
import { bytesInBase64, PAGE_MAX_CHARS, pageFrom, readable, usualPageChars } from './page.ts';

const PAGE_DEFAULT_BYTES = 16 * 1024;
const PAGE_MAX_BYTES = 48 * 1024;
/** A wait for more output looks again this often where no event reaches it. */
const GROWTH_POLL_MS = 1000;

export const log = defineOperation({
  name: 'log',
  tool: 'job_log',
  title: 'Job log',
  description:
    'What a job printed (stdout and stderr together), also while it runs: the end of it, or a page from a byte offset on. Use it to see why a job went wrong or what a running one is doing; for the result file use job_result. To follow a running job pass the last next_offset as offset, with wait_secs.',
  input: z.strictObject({
    job: jobRef,
    skill: skillFilter,
    offset: z.optional(
      z
        .int()
        .check(
          z.gte(0),
          z.describe('Byte to start at: the next_offset of the last page. Without it: the end.'),
        ),
    ),
    max_bytes: z.optional(
      z
        .int()
        .check(z.gt(0), z.lte(PAGE_MAX_BYTES), z.describe(`Longest page in bytes (${PAGE_DEFAULT_BYTES}).`)),
    ),
    wait_secs: z.optional(
      seconds('If nothing lies beyond offset yet, wait so long for more output or the end of the job (0).'),
    ),
  }),
  output: z.object({
    state: jobState,
    path: z.string().check(z.describe('The whole log, for whoever can read files.')),
    text: z
      .optional(z.string())
      .check(z.describe('Where bytes are not UTF-8 text, U+FFFD (and \u2400 for NUL) stands for them.')),
    base64: z.optional(
      z.string().check(z.describe('The exact bytes, where the text could not give them all.')),
    ),
    offset: z.number(),
    next_offset: z.number().check(z.describe('Where to go on reading, now or once there is more.')),
    total_bytes: z.number(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (input, caller) => {
    const jobDir = findJob(input.job, { env: caller.env, cwd: caller.cwd, skill: input.skill });
    const path = fileOf(jobDir, 'log');
    let state = await settle(jobDir, caller.entry);
    requireOwn(jobDir);
    if (state === 'running' && input.offset !== undefined && input.wait_secs !== undefined) {
      const budgetMs = waitSecs(input.wait_secs, caller, 0) * 1000;
      state = await awaitGrowth(jobDir, { path, beyond: input.offset, budgetMs }, caller);
      requireOwn(jobDir);
    }
    const maxBytes = input.max_bytes ?? PAGE_DEFAULT_BYTES;
    const maxChars = input.max_bytes === undefined ? usualPageChars(caller.answerChars) : PAGE_MAX_CHARS;
    if (input.offset !== undefined) {
      const { data, totalBytes } = readPage(path, input.offset, maxBytes);
      return { state, path, ...logPage(data, Math.min(input.offset, totalBytes), totalBytes, maxChars) };
    }
    const from = Math.max(0, (lstatIfAny(path)?.size ?? 0) - maxBytes);
    const { data, totalBytes } = readPage(path, from, maxBytes);
    const skipped = from > 0 ? cutCharacter(data) : 0;
    return { state, path, ...tailPage(data.subarray(skipped), from + skipped, totalBytes, maxChars) };
  },
});

function requireOwn(jobDir: string): void {
  if (!isOwnJobDir(jobDir))
    throw new RunnerError('refused', `job state unreadable (ownership or corruption): ${jobDir}`);
}

function logPage(data: Buffer, offset: number, totalBytes: number, maxChars: number) {
  const page = pageFrom(data, offset, totalBytes, maxChars);
  if (page.base64 === undefined) return { ...page, next_offset: page.next_offset ?? offset + data.length };
  // Both forms have to fit: three bytes are four characters of base64, and up to three times six as text.
  const shown = data.subarray(0, bytesInBase64(maxChars / 5));
  return {
    text: readable(shown).text,
    base64: shown.toString('base64'),
    offset,
    next_offset: offset + shown.length,
    total_bytes: totalBytes,
  };
}

/** The last page that there is, even where less fits than was read. */
function tailPage(data: Buffer, offset: number, totalBytes: number, maxChars: number) {
  const page = logPage(data, offset, totalBytes, maxChars);
  const rest = page.next_offset - offset;
  if (page.next_offset >= offset + data.length) return page;
  return tailPage(data.subarray(data.length - rest), offset + data.length - rest, totalBytes, maxChars);
}

/** Resolves with the state when the log is longer than `beyond` bytes, the job has settled, or the time is over. */
async function awaitGrowth(
  jobDir: string,
  { path, beyond, budgetMs }: { path: string; beyond: number; budgetMs: number },
  caller: Caller,
): Promise<JobState> {
  const growth = new AbortController();
  const hasGrown = (): boolean => (lstatIfAny(path)?.size ?? 0) > beyond;
  const look = (): void => {
    if (hasGrown()) growth.abort();
  };
  const timer = setInterval(look, GROWTH_POLL_MS);
  const endWatch = watchFile(path, look);
  look();
  try {
    const signal = caller.signal ? AbortSignal.any([caller.signal, growth.signal]) : growth.signal;
    const job = { ref: jobIdOf(jobDir), jobDir };
    const [watched] = await awaitJobs([job], { budgetMs, until: 'all' }, { ...caller, signal });
    return watched?.state ?? 'running';
  } finally {
    clearInterval(timer);
    endWatch();
  }
}

function watchFile(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, onChange).on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // No watcher to be had: the timer looks.
    return () => undefined;
  }
}

function readPage(path: string, offset: number, maxBytes: number): { data: Buffer; totalBytes: number } {
  try {
    return readOwnedPage(path, offset, maxBytes);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    throw new RunnerError('absent', `no log at ${path}: nothing was started`, { cause: error });
  }
}

/** Bytes at the start that belong to a character before the page (UTF-8 continuation bytes). */
function cutCharacter(data: Buffer): number {
  const first = data.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, first);
}
