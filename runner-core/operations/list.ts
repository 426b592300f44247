import * as z from 'zod/mini';
import { JOB_STATES } from '../job/state.ts';
import { jobsIn, runFolders } from '../store/find.ts';
import { jobIdOf, readMeta } from '../store/job-dir.ts';
import { settle } from '../supervisor/settle.ts';
import { jobRow, skillFilter } from './fields.ts';
import { defineOperation } from './operation.ts';
import { describeJob } from './report.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1000;

export const list = defineOperation({
  name: 'list',
  tool: 'list_jobs',
  title: 'List jobs',
  description:
    'Jobs that exist on this machine, newest first: use it to find jobs again whose ids were lost, after a restart or a compaction.',
  input: z.strictObject({
    skill: skillFilter,
    run_id: z.optional(z.string().check(z.minLength(1), z.describe('Only jobs of this run.'))),
    label: z.optional(z.string().check(z.minLength(1), z.describe('Only jobs with this label.'))),
    state: z.optional(z.enum(JOB_STATES).check(z.describe('Only jobs in this state.'))),
    limit: z.optional(
      z.int().check(z.gt(0), z.lte(LIMIT_MAX), z.describe(`At most so many (${LIMIT_DEFAULT}).`)),
    ),
  }),
  output: z.object({
    jobs: z.array(jobRow),
    more: z.boolean().check(z.describe('Whether there are more than the limit lets through.')),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async ({ skill, run_id, label, state, limit = LIMIT_DEFAULT }, caller) => {
    const dirs: string[] = [];
    for (const run of runFolders(caller.env, skill)) {
      if (run_id === undefined || run.runId === run_id) dirs.push(...jobsIn(run.path));
    }
    // Ids begin with the time of the start.
    dirs.sort((a, b) => jobIdOf(b).localeCompare(jobIdOf(a)));
    const jobs: z.infer<typeof jobRow>[] = [];
    for (const jobDir of dirs) {
      if (label !== undefined && readMeta(jobDir)?.label !== label) continue;
      const found = await settle(jobDir, caller.entry);
      if (state !== undefined && found !== state) continue;
      if (jobs.length === limit) return { jobs, more: true };
      jobs.push(describeJob({ ref: jobIdOf(jobDir), jobDir }, found));
    }
    return { jobs, more: false };
  },
});
