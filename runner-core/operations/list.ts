import { resolve, sep } from 'node:path';
import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { jobsIn, runFolders } from '../store/find.ts';
import { jobIdOf, readMeta } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { type JobFilter, type JobRow, jobFilter, jobRow } from './fields.ts';
import { type Caller, defineOperation } from './operation.ts';
import { describeJob } from './report.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1000;

export const list = defineOperation({
  name: 'list',
  tool: 'list_jobs',
  title: 'List jobs',
  description:
    'Finds jobs on this machine again, newest first: after a restart, after a compaction, or whenever the ids were lost. Narrow it by label, run, skill, state, or the folder they ran in. Then wait_jobs for those that run, job_result or job_log for the others.',
  input: z.strictObject({
    ...jobFilter,
    folder: z.optional(
      z
        .string()
        .check(
          z.minLength(1),
          z.describe('Only jobs that run in this folder or below it; "." is the project of the caller.'),
        ),
    ),
    limit: z.optional(
      z
        .int()
        .check(
          z.gt(0),
          z.lte(LIMIT_MAX),
          z.describe(
            `At most so many (${LIMIT_DEFAULT}, or fewer where the caller would not be shown them all).`,
          ),
        ),
    ),
    cursor: z.optional(
      z.string().check(z.minLength(1), z.describe('Go on after this job: next_cursor of the last page.')),
    ),
  }),
  output: z.object({
    jobs: z.array(jobRow),
    more: z.boolean().check(z.describe('Whether there are more than these.')),
    next_cursor: z.nullable(z.string()).check(z.describe('Pass it as cursor for the next page.')),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async ({ limit, cursor, state, ...filter }, caller) => {
    const jobs: JobRow[] = [];
    let roomChars = (limit === undefined ? caller.answerChars : undefined) ?? Number.POSITIVE_INFINITY;
    for (const jobDir of candidates(filter, cursor, caller)) {
      const found = await settle(jobDir, caller.entry);
      if (state !== undefined && found !== state) continue;
      const last = jobs.at(-1);
      const row = describeJob({ ref: jobIdOf(jobDir), jobDir }, found);
      // Removed while it was looked at. A job that is there is listed, whatever became of its record.
      if (row.run_id === null && !lstatIfAny(jobDir)) continue;
      roomChars -= JSON.stringify(row).length;
      if (last && (jobs.length === (limit ?? LIMIT_DEFAULT) || roomChars < 0))
        return { jobs, more: true, next_cursor: last.job_id };
      jobs.push(row);
    }
    return { jobs, more: false, next_cursor: null };
  },
});

/** Job directories that fit the filter, newest first: ids begin with the time of the start. */
function* candidates(
  { skill, run_id, label, folder }: Omit<JobFilter, 'state'> & { folder?: string | undefined },
  cursor: string | undefined,
  caller: Caller,
): Generator<string> {
  const dirs: string[] = [];
  for (const run of runFolders(caller.env, skill)) {
    if (run_id === undefined || run.runId === run_id) dirs.push(...jobsIn(run.path));
  }
  dirs.sort((a, b) => (jobIdOf(a) < jobIdOf(b) ? 1 : -1));
  const wanted = folder === undefined ? undefined : resolve(caller.cwd, folder);
  for (const jobDir of dirs) {
    if (cursor !== undefined && jobIdOf(jobDir) >= cursor) continue;
    const meta = label === undefined && wanted === undefined ? undefined : readMeta(jobDir);
    if (label !== undefined && meta?.label !== label) continue;
    if (wanted !== undefined && !isWithin(meta?.cwd ?? '', wanted)) continue;
    yield jobDir;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
