import * as z from 'zod/mini';
import { jobIdOf, readMeta, recordedState } from '../store/job-dir.ts';
import { awaitJobs } from './await-jobs.ts';
import { fullRow } from './fields.ts';
import { defineOperation, waitSecs } from './operation.ts';
import { describeFully } from './report.ts';
import { startInput, supervision } from './start-input.ts';
import { startJob } from './start-job.ts';
import { planFor } from './start-plan.ts';

export const start = defineOperation({
  name: 'start',
  tool: 'start_job',
  title: 'Start a job',
  description:
    'Runs a command as a detached, supervised job that outlives this call, this server and its client. For whatever may take longer than a call, or must not be lost. With wait_secs, as long as the job may take, one call gives the outcome with the result or the end of the log. To run several at once, start each without it, then wait_jobs with all the ids. Not for what asks questions: a worker has no terminal and no stdin.',
  input: startInput,
  output: z.extend(fullRow, {
    reused: z.boolean().check(z.describe('True where a job with this key was there already.')),
    supervision,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  run: async (request, caller) => {
    const plan = planFor(request, caller);
    const { jobDir, reused, ...started } = await startJob(plan, caller);
    const job = { ref: jobIdOf(jobDir), jobDir };
    const budgetMs = waitSecs(request.wait_secs ?? 0, caller, 0) * 1000;
    const watched =
      budgetMs > 0 || reused
        ? await awaitJobs([job], { budgetMs, until: 'all' }, caller)
        : // Its supervisor has just told that it has it: there is nobody to look after.
          [{ ...job, state: recordedState(jobDir) }];
    const inForce = (reused ? readMeta(jobDir)?.supervision : undefined) ?? started.supervision;
    const [row] = describeFully(watched, caller);
    if (!row) throw new Error('a job that was waited for has no row');
    return { ...row, reused, supervision: inForce };
  },
});
