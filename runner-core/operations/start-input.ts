/** What a start is told. */
import * as z from 'zod/mini';
import { ENGINES } from '../engine/port.ts';
import { slurmOptions } from '../engine/slurm-options.ts';
import { positiveBytes, positiveSeconds, seconds } from './fields.ts';

const token = (description: string) =>
  z.string().check(z.describe(`${description} Letters, digits, ".", "_" and "-".`));

export const supervision = z.object({
  idle: z.nullable(z.number()),
  hard: z.number(),
  log_max: z.number(),
  result_max: z.number(),
  poll: z.number(),
  grace: z.number(),
});

const environment = z
  .record(z.string(), z.nullable(z.string()))
  .check(
    z.describe('Changes to the environment that the worker inherits; null unsets. Never written to disk.'),
  );

/** A record of zod's drops this one name without a word: then the worker would lack a variable, or have one too many. */
const notLost = z.transform((value: Readonly<Record<string, string | null>>, { issues }) => {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
    const message = '__proto__ cannot be set as a variable here; unset or set it in the worker itself';
    issues.push({ code: 'custom', input: value, path: ['__proto__'], message });
  }
  return value;
});

export const startInput = z.strictObject({
  argv: z
    .array(z.string())
    .check(
      z.minLength(1),
      z.describe(
        'The worker as an argument list, never a shell line; for shell syntax pass ["sh", "-c", "…"].',
      ),
    ),
  skill: z.optional(token('Who the job belongs to; groups runs.')),
  run_id: z.optional(token('Groups the jobs of one run.')),
  label: z.optional(token('A name to tell the job by.')),
  input_digest: z.optional(
    z.string().check(z.describe('Kept in the record, for the caller to recognise its input.')),
  ),
  result_path: z.optional(
    z
      .string()
      .check(
        z.describe(
          'The file that the worker will write: done then requires it fresh and non-empty. From cwd.',
        ),
      ),
  ),
  result_format: z.optional(
    z.enum(['json']).check(z.describe('What the result must be to count: a valid JSON document.')),
  ),
  cwd: z.optional(z.string().check(z.minLength(1), z.describe('Folder that the worker runs in.'))),
  env: z.optional(z.pipe(notLost, environment)),
  key: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.describe('Start at most one job with this key in the run: a repeated start gives the first one.'),
      ),
  ),
  idle_secs: z.optional(
    seconds('End the job after so many seconds without output. 0 switches that off where the skill may.'),
  ),
  hard_secs: z.optional(positiveSeconds('End the job after so many seconds.')),
  log_max_bytes: z.optional(positiveBytes('End the job when its output exceeds this.')),
  result_max_bytes: z.optional(positiveBytes('A larger result is a failure.')),
  grace_secs: z.optional(positiveSeconds('Seconds between the polite end and the kill.')),
  engine: z.optional(
    z
      .enum(ENGINES)
      .check(
        z.describe('Where it runs: on this machine, or on a Slurm cluster that shares the job directory.'),
      ),
  ),
  slurm: z.optional(slurmOptions.check(z.describe('What to ask of Slurm, with engine slurm.'))),
  sweep: z.optional(z.boolean().check(z.describe('Remove sibling runs older than a day (true).'))),
  wait_secs: z.optional(
    seconds(
      'Wait so long for the job to settle before answering: the time that it may take. Without it the answer comes at once.',
    ),
  ),
});
export type StartInput = z.output<typeof startInput>;
