import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { fullRow, jobRefs, skillFilter, unknownRefs } from './fields.ts';
import { findJobs } from './find-jobs.ts';
import { defineOperation } from './operation.ts';
import { describeFully } from './report.ts';

export const status = defineOperation({
  name: 'status',
  tool: 'job_status',
  title: 'Job status',
  description:
    'How jobs stand right now, without waiting. To wait for them use wait_jobs instead of asking again and again; for the output of a job that is done use job_result.',
  input: z.strictObject({ jobs: jobRefs, skill: skillFilter }),
  output: z.object({ jobs: z.array(fullRow), unknown: unknownRefs }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async ({ jobs, skill }, caller) => {
    const { found, unknown } = findJobs(jobs, caller, skill);
    const settled = found.map(async (job) => ({ ...job, state: await settle(job.jobDir, caller.entry) }));
    return { jobs: describeFully(await Promise.all(settled), caller), unknown };
  },
});
