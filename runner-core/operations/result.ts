import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { errnoOf, RunnerError } from '../errors.ts';
import { resultCapFrom } from '../job/windows.ts';
import { findJob } from '../store/find.ts';
import { readReason, requireMeta } from '../store/job-dir.ts';
import { readOwned } from '../store/owned-file.ts';
import { byteOffset, jobRef, jobState, skillFilter } from './fields.ts';
import { type Caller, defineOperation } from './operation.ts';
import { PAGE_MAX_CHARS, pageOf, usualPageChars } from './page.ts';

/** Well under what clients spill to a file: their limits are counted in characters and tokens. */
const PAGE_DEFAULT_BYTES = 32 * 1024;
const PAGE_MAX_BYTES = 48 * 1024;

export const result = defineOperation({
  name: 'result',
  tool: 'job_result',
  title: 'Job result',
  description:
    'The result file that a done job published, or with path any file of the user, after ownership and size checks; page by page. Only needed where the wait did not show all of it. What a job printed is in job_log.',
  input: z.strictObject({
    job: z.optional(jobRef),
    path: z.optional(
      z
        .string()
        .check(
          z.minLength(1),
          z.describe(
            'Read this file instead of the declared result; with job as well, an absent file reports how that job stands.',
          ),
        ),
    ),
    skill: skillFilter,
    offset: byteOffset,
    max_bytes: z.optional(
      z
        .int()
        .check(z.gt(0), z.lte(PAGE_MAX_BYTES), z.describe(`Longest page in bytes (${PAGE_DEFAULT_BYTES}).`)),
    ),
  }),
  output: z.object({
    state: z.nullable(jobState),
    path: z.nullable(z.string()),
    text: z.optional(z.string()),
    base64: z.optional(z.string().check(z.describe('Instead of text, where the bytes are not UTF-8 text.'))),
    offset: z.number(),
    next_offset: z
      .nullable(z.number())
      .check(z.describe('Where the next page starts; not given at the end.')),
    total_bytes: z.number(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (input, caller) => {
    const artifact = await readArtifact(input, caller);
    const page = pageOf(
      artifact.data,
      input.offset ?? 0,
      input.max_bytes ?? PAGE_DEFAULT_BYTES,
      input.max_bytes === undefined ? usualPageChars(caller.answerChars) : PAGE_MAX_CHARS,
    );
    return { state: artifact.state, path: artifact.path, ...page };
  },
});

export interface Artifact {
  readonly state: 'done' | null;
  readonly path: string | null;
  readonly data: Buffer;
}

/**
 * The whole result of a done job, or of `path`. Throws `running`, `absent` or `refused` where there is none to give.
 * A job that declared no result gives an empty one without a path.
 */
export async function readArtifact(
  input: { job?: string | undefined; path?: string | undefined; skill?: string | undefined },
  caller: Caller,
): Promise<Artifact> {
  const capBytes = resultCapFrom(caller.env);
  if (input.path !== undefined) {
    const path = resolve(caller.cwd, input.path);
    try {
      return { state: null, path, data: readOwned(path, capBytes) };
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      throw await absentArtifact(path, input.job, input.skill, caller);
    }
  }
  if (input.job === undefined) throw new RunnerError('usage', 'result needs a job id or a path');
  const jobDir = findJob(input.job, { env: caller.env, cwd: caller.cwd, skill: input.skill });
  const unsettled = await whyNotDone(input.job, jobDir, caller);
  if (unsettled) throw unsettled;
  const { result_path: path } = requireMeta(jobDir);
  if (!path) return { state: 'done', path: null, data: Buffer.alloc(0) };
  try {
    return { state: 'done', path, data: readOwned(path, capBytes) };
  } catch (error) {
    if (error instanceof RunnerError) throw error;
    throw new RunnerError('absent', `result missing: nothing lies at ${path} any more`, { cause: error });
  }
}

async function whyNotDone(ref: string, jobDir: string, caller: Caller): Promise<RunnerError | undefined> {
  const state = await settle(jobDir, caller.entry);
  switch (state) {
    case 'done':
      return undefined;
    case 'running':
      return new RunnerError('running', `job ${ref} is still running; wait for it first`);
    case 'unreadable':
      return new RunnerError('refused', `job state unreadable (ownership or corruption): ${jobDir}`);
    default: {
      const reason = readReason(jobDir);
      return new RunnerError(
        'absent',
        `job ${ref}: ${state}${reason ? ` (${reason})` : ''}; its log may tell more`,
      );
    }
  }
}

/** An absent file is an outcome: it is told with how the job stands that was to write it. */
async function absentArtifact(
  path: string,
  ref: string | undefined,
  skill: string | undefined,
  caller: Caller,
): Promise<RunnerError> {
  const nothing = `no artifact at ${path}`;
  if (ref === undefined) return new RunnerError('absent', nothing);
  try {
    const jobDir = findJob(ref, { env: caller.env, cwd: caller.cwd, skill });
    const unsettled = await whyNotDone(ref, jobDir, caller);
    return unsettled
      ? new RunnerError(unsettled.kind, `${nothing}; ${unsettled.message}`)
      : new RunnerError('absent', `${nothing}; job ${ref}: done`);
  } catch (error) {
    if (error instanceof RunnerError)
      return new RunnerError(error.kind, `${nothing}; ${error.message}`, { cause: error });
    throw error;
  }
}
