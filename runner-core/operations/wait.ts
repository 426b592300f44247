import * as z from 'zod/mini';
import { deadlineAtMs, secsLeft } from '../job/deadline.ts';
import { REAP_SETTLE_SECS, WAIT_DEFAULT_SECS } from '../limits.ts';
import { readMeta, startedAtMs } from '../store/job-dir.ts';
import { awaitJobs } from './await-jobs.ts';
import { fullRow, jobRefs, seconds, skillFilter, unknownRefs } from './fields.ts';
import { type FoundJob, findJobs } from './find-jobs.ts';
import { defineOperation, waitSecs } from './operation.ts';
import { describeFully } from './report.ts';

export const wait = defineOperation({
  name: 'wait',
  tool: 'wait_jobs',
  title: 'Wait for jobs',
  description:
    'Waits until jobs have settled, and says how each ended, with its result or the end of its log. It returns at the latest after max_secs; still running is an ordinary answer: call it again, never start the job again. With a deadline over all of them it also says when to reap what is left. Use it instead of asking job_status time and again.',
  input: z.strictObject({
    jobs: jobRefs,
    skill: skillFilter,
    max_secs: z.optional(
      seconds(
        `Longest wait, in seconds. Without it ${WAIT_DEFAULT_SECS}, or over MCP as long as the client bears.`,
      ),
    ),
    until: z.optional(
      z
        .enum(['all', 'any'])
        .check(z.describe('Return when all jobs have settled (default), or as soon as any one has.')),
    ),
    deadline_secs: z.optional(
      seconds('Aggregate deadline in seconds, counted from the start of the job that started last.'),
    ),
    deadline_grace_secs: z.optional(
      seconds('Added to deadline_secs, so that a cap of the workers can be passed unchanged.'),
    ),
  }),
  output: z.object({
    jobs: z.array(fullRow),
    unknown: unknownRefs,
    all_settled: z.boolean(),
    deadline_passed: z.nullable(z.boolean()),
    secs_left: z
      .nullable(z.number())
      .check(z.describe('Whole seconds before the deadline, if one was given.')),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (input, caller) => {
    const { found, unknown } = findJobs(input.jobs, caller, input.skill);
    const deadline = deadlineOf(found, input.deadline_secs, input.deadline_grace_secs);
    const budgetMs = budgetOf(waitSecs(input.max_secs, caller, WAIT_DEFAULT_SECS) * 1000, deadline);
    const watched = await awaitJobs(found, { budgetMs, until: input.until ?? 'all' }, caller);
    const allSettled = watched.every((job) => job.state !== 'running');
    const now = Date.now();
    return {
      jobs: describeFully(watched, caller),
      unknown,
      all_settled: allSettled,
      deadline_passed: deadline === undefined ? null : !allSettled && now >= deadline,
      secs_left: deadline === undefined ? null : secsLeft(deadline, now),
    };
  },
});

function deadlineOf(jobs: readonly FoundJob[], secs: number | undefined, graceSecs = 0): number | undefined {
  if (secs === undefined) return undefined;
  const starts = jobs.flatMap(({ jobDir }) => startedAtMs(jobDir, readMeta(jobDir)) ?? []);
  return deadlineAtMs(starts, secs + graceSecs, Date.now());
}

/** Ends with the deadline; once that is over, leaves jobs just reaped the time to record how they ended. */
function budgetOf(maxMs: number, deadline: number | undefined): number {
  if (deadline === undefined) return maxMs;
  const left = deadline - Date.now();
  return Math.min(maxMs, left > 0 ? left : REAP_SETTLE_SECS * 1000);
}
