/** The fields that several operations share. */
import * as z from 'zod/mini';
import { JOB_STATES } from '../job/state.ts';
import { MAX_TIMER_SECS } from '../limits.ts';

export const jobRef = z
  .string()
  .check(z.minLength(1), z.describe('A job id, or the path of a job directory.'));

export const jobRefs = z
  .array(z.string())
  .check(z.minLength(1), z.describe('Job ids, or paths of job directories.'));

export const skillFilter = z.optional(
  z.string().check(z.minLength(1), z.describe('Look for the jobs only among those of this skill.')),
);

/** What narrows a question about many jobs. */
export const jobFilter = {
  skill: skillFilter,
  run_id: z.optional(z.string().check(z.minLength(1), z.describe('Only jobs of this run.'))),
  label: z.optional(z.string().check(z.minLength(1), z.describe('Only jobs with this label.'))),
  state: z.optional(z.enum(JOB_STATES).check(z.describe('Only jobs in this state.'))),
};
export type JobFilter = z.output<z.ZodMiniObject<typeof jobFilter>>;

export const seconds = (description: string) =>
  z.number().check(z.gte(0), z.lte(MAX_TIMER_SECS), z.describe(description));

export const positiveSeconds = (description: string) =>
  z.number().check(z.gt(0), z.lte(MAX_TIMER_SECS), z.describe(description));

export const positiveBytes = (description: string) => z.int().check(z.gt(0), z.describe(description));

export const byteOffset = z.optional(
  z.int().check(z.gte(0), z.describe('Byte to start at; next_offset of the last page.')),
);

export const jobState = z
  .enum(JOB_STATES)
  .check(
    z.describe(
      'done, failed, timeout, died-without-result: final. running. never-started: nothing was detached. unreadable: an ownership or sanity check failed, content withheld.',
    ),
  );

const standing = z.object({
  name: z.string(),
  id: z.nullable(z.string()).check(z.describe("The job's number there.")),
  cluster: z.nullable(z.string()),
  host: z.nullable(z.string()).check(z.describe('Where its supervisor runs.')),
  queued: z.boolean().check(z.describe('It waits for its turn; no window has begun.')),
  state: z.nullable(z.string()).check(z.describe("The engine's own word for a running job.")),
  detail: z.nullable(z.string()),
});

export const jobRow = z.object({
  ref: z.string().check(z.describe('The job as the caller named it.')),
  job_id: z.string(),
  job_dir: z.string(),
  state: jobState,
  skill: z.nullable(z.string()),
  run_id: z.nullable(z.string()),
  label: z.nullable(z.string()),
  reason: z.string().check(z.describe('One line on how it ended; empty while it runs.')),
  started_at: z.nullable(z.string()),
  elapsed_secs: z.nullable(z.number()).check(z.describe('Seconds since the start, up to the end.')),
  idle_secs: z.nullable(z.number()).check(z.describe('Seconds since the last output of a running job.')),
  exit_code: z.nullable(z.number()),
  signal: z.nullable(z.string()),
  log_bytes: z.nullable(z.number()),
  log_path: z.string(),
  result_path: z.nullable(z.string()),
  engine: z
    .nullable(standing)
    .check(z.describe('How it stands with the engine, unless that is this machine.')),
});
export type JobRow = z.infer<typeof jobRow>;

/** A row with what its caller would ask for next. */
export const fullRow = z.extend(jobRow, {
  last_line: z.nullable(z.string()).check(z.describe('The last line that a running job printed.')),
  log_tail: z
    .nullable(z.string())
    .check(z.describe('The end of what a settled job printed, where there is no result to show.')),
  result_text: z
    .nullable(z.string())
    .check(z.describe('The result of a done job, or its beginning: all of it if it has result_bytes bytes.')),
  result_bytes: z.nullable(z.number()),
});
export type FullRow = z.infer<typeof fullRow>;

/** A reference that names no job, beside the rows of those that do. */
export const unknownRefs = z
  .array(z.object({ ref: z.string(), problem: z.string() }))
  .check(z.describe('References that name no job, each with the reason.'));
