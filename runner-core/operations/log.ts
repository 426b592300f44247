import * as z from 'zod/mini';
import { errnoOf, RunnerError } from '../errors.ts';
import { findJob } from '../store/find.ts';
import { fileOf, isOwnJobDir } from '../store/job-dir.ts';
import { lstatIfAny, readOwnedPage } from '../store/owned-file.ts';
import { settle } from '../supervisor/settle.ts';
import { byteOffset, jobRef, jobState, skillFilter } from './fields.ts';
import { defineOperation } from './operation.ts';
import { pageFrom } from './page.ts';

const PAGE_DEFAULT_BYTES = 16 * 1024;
const PAGE_MAX_BYTES = 48 * 1024;

export const log = defineOperation({
  name: 'log',
  tool: 'job_log',
  title: 'Job log',
  description:
    "A page of a job's output (stdout and stderr together): its tail, or from a byte offset on. Works while the job runs: next_offset is where to go on reading.",
  input: z.strictObject({
    job: jobRef,
    skill: skillFilter,
    offset: byteOffset,
    max_bytes: z.optional(
      z
        .int()
        .check(z.gt(0), z.lte(PAGE_MAX_BYTES), z.describe(`Longest page in bytes (${PAGE_DEFAULT_BYTES}).`)),
    ),
  }),
  output: z.object({
    state: jobState,
    path: z.string(),
    text: z.optional(z.string()),
    base64: z.optional(z.string().check(z.describe('Instead of text, where the bytes are not UTF-8 text.'))),
    offset: z.number(),
    next_offset: z.number().check(z.describe('Where to go on reading, now or once there is more.')),
    total_bytes: z.number(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (input, caller) => {
    const jobDir = findJob(input.job, { env: caller.env, cwd: caller.cwd, skill: input.skill });
    const state = await settle(jobDir, caller.entry);
    if (!isOwnJobDir(jobDir))
      throw new RunnerError('refused', `job state unreadable (ownership or corruption): ${jobDir}`);
    const path = fileOf(jobDir, 'log');
    const maxBytes = input.max_bytes ?? PAGE_DEFAULT_BYTES;
    const offset = input.offset ?? Math.max(0, (lstatIfAny(path)?.size ?? 0) - maxBytes);
    const { data, totalBytes } = readPage(path, offset, maxBytes);
    const skipped = input.offset === undefined && offset > 0 ? cutCharacter(data) : 0;
    const page = pageFrom(data.subarray(skipped), offset + skipped, totalBytes);
    return {
      state,
      path,
      ...page,
      next_offset: page.next_offset ?? Math.min(offset, totalBytes) + data.length,
    };
  },
});

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
