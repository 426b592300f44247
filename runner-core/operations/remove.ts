import * as z from 'zod/mini';
import { messageOf } from '../errors.ts';
import { bytesIn, removeEmptySkill } from '../store/remove-job.ts';
import { jobRefs, jobRow, skillFilter, unknownRefs } from './fields.ts';
import { type FoundJob, findJobs } from './find-jobs.ts';
import { type Caller, defineOperation } from './operation.ts';
import { removalOf, remove as removeNow } from './removal.ts';
import { describeJob } from './report.ts';

export const dryRun = z.optional(
  z.boolean().check(z.describe('Only tell what would be removed; remove nothing.')),
);

export const removedRow = z.extend(jobRow, {
  bytes: z
    .number()
    .check(z.describe('Bytes of the job directory; a result elsewhere is not ours to remove.')),
  removed: z.boolean().check(z.describe('With dry_run: whether it would be.')),
  problem: z.nullable(z.string()),
});
export type RemovedRow = z.infer<typeof removedRow>;

export const remove = defineOperation({
  name: 'remove',
  tool: 'remove_job',
  title: 'Remove jobs',
  description:
    'Removes the directories of jobs that have settled: record and log. Never a job that runs, nor a result that lies elsewhere.',
  input: z.strictObject({ jobs: jobRefs, skill: skillFilter, dry_run: dryRun }),
  output: z.object({ jobs: z.array(removedRow), unknown: unknownRefs }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ jobs, skill, dry_run = false }, caller) => {
    const { found, unknown } = findJobs(jobs, caller, skill);
    const rows: RemovedRow[] = [];
    for (const job of found) rows.push(await removeJobOf(job, dry_run, caller));
    return { jobs: rows, unknown };
  },
});

/** Removes one job if it may go, and tells of it as it was. */
export async function removeJobOf(job: FoundJob, dryRun: boolean, caller: Caller): Promise<RemovedRow> {
  const removal = await removalOf(job.jobDir, caller.entry);
  const row = { ...describeJob(job, removal.state), bytes: bytesIn(job.jobDir) };
  if (removal.problem !== undefined) return { ...row, removed: false, problem: removal.problem };
  if (dryRun) return { ...row, removed: true, problem: null };
  try {
    const removed = await removeNow(job.jobDir, removal);
    if (removed) removeEmptySkill(job.jobDir, caller.env);
    return { ...row, removed, problem: removed ? null : `it changed meanwhile; left alone: ${job.jobDir}` };
  } catch (error) {
    return { ...row, removed: false, problem: `cannot be removed: ${messageOf(error)}` };
  }
}
