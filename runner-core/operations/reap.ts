import * as z from 'zod/mini';
import { reapJob } from '../engine/index.ts';
import { messageOf, RunnerError } from '../errors.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { supervisionFor } from '../job/windows.ts';
import { jobRefs, jobRow, skillFilter, unknownRefs } from './fields.ts';
import { findJobs } from './find-jobs.ts';
import { defineOperation } from './operation.ts';
import { describeJob } from './report.ts';

export const reap = defineOperation({
  name: 'reap',
  tool: 'reap_job',
  title: 'Reap jobs',
  description:
    'Ends running jobs now, each with its whole process tree, and records them as timeout. Safe on jobs that have settled already: those stay as they are. Use it at a deadline, or when a result is no longer wanted.',
  input: z.strictObject({ jobs: jobRefs, skill: skillFilter }),
  output: z.object({
    jobs: z.array(z.extend(jobRow, { problem: z.nullable(z.string()) })),
    unknown: unknownRefs,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ jobs, skill }, caller) => {
    const { found, unknown } = findJobs(jobs, caller, skill);
    const { grace } = supervisionFor(caller.env, skill ?? '');
    const rows = found.map(async (job) => {
      try {
        const state = await reapJob(job.jobDir, grace * 1000, found.length);
        return { ...describeJob(job, state), problem: problemOf(state, job.jobDir) };
      } catch (error) {
        if (!(error instanceof RunnerError)) throw error;
        return { ...describeJob(job, 'running'), problem: messageOf(error) };
      }
    });
    return { jobs: await Promise.all(rows), unknown };
  },
});

function problemOf(state: JobState, jobDir: string): string | null {
  if (state === 'unreadable') return `job state unreadable (ownership or corruption): ${jobDir}`;
  return isTerminal(state) || state === 'never-started' ? null : `still running: ${jobDir}`;
}
