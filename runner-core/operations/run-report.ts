import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { isTerminal } from '../job/state.ts';
import { fileOf, readMeta, readOutcome } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { logTail } from './excerpt.ts';
import { type JobFilter, type JobRow, jobFilter, jobRow, unknownRefs } from './fields.ts';
import { findJobs } from './find-jobs.ts';
import { list } from './list.ts';
import { type Caller, defineOperation } from './operation.ts';
import { describeJob } from './report.ts';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 1000;
/** Of one job's log, and of all logs together. */
const TAIL_MAX_BYTES = 16 * 1024;
const TAILS_BYTES = 2 * 1024 * 1024;

const reportRow = z.extend(jobRow, {
  argv: z.nullable(z.array(z.string())),
  cwd: z.nullable(z.string()),
  client: z.nullable(z.string()),
  ended_at: z.nullable(z.string()),
  last_output_at: z.nullable(z.string()),
  hard_secs: z.nullable(z.number()).check(z.describe('The window after which it is ended.')),
  silences: z
    .array(z.tuple([z.number(), z.number()]))
    .check(z.describe('Long stretches without output: seconds after the start, from and to.')),
  log_tail: z.nullable(z.string()),
});
export type ReportRow = z.infer<typeof reportRow>;

/** What a report is made of. */
export interface Report {
  readonly generated_at: string;
  readonly jobs: readonly ReportRow[];
  readonly more: boolean;
}

export const report = defineOperation({
  name: 'report',
  tool: 'report_jobs',
  title: 'Report on jobs',
  description:
    'What became of the jobs of a run, or of all: when each ran, how it ended and why, the end of its log. With --html as a page of one file.',
  input: z.strictObject({
    jobs: z.optional(z.array(z.string().check(z.minLength(1))).check(z.describe('Only these jobs.'))),
    ...jobFilter,
    limit: z.optional(
      z.int().check(z.gt(0), z.lte(LIMIT_MAX), z.describe(`At most so many, the newest (${LIMIT_DEFAULT}).`)),
    ),
  }),
  output: z.object({
    generated_at: z.string(),
    jobs: z.array(reportRow),
    unknown: unknownRefs,
    more: z.boolean().check(z.describe('Whether there are more than the limit lets through.')),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async ({ jobs: refs, limit = LIMIT_DEFAULT, ...filter }, caller) => {
    const { rows, unknown, more } = refs?.length
      ? await named(refs, filter, caller)
      : { ...(await listed({ ...filter, limit }, caller)), unknown: [] };
    const tailBytes = Math.min(TAIL_MAX_BYTES, Math.floor(TAILS_BYTES / Math.max(1, rows.length)));
    return {
      generated_at: new Date().toISOString(),
      jobs: rows.map((row) => reportOn(row, tailBytes)),
      unknown,
      more,
    };
  },
});

async function named(refs: readonly string[], { skill, run_id, label, state }: JobFilter, caller: Caller) {
  const { found, unknown } = findJobs(refs, caller, skill);
  const all = await Promise.all(
    found.map(async (job) => describeJob(job, await settle(job.jobDir, caller.entry))),
  );
  const rows = all.filter(
    (row) =>
      (run_id === undefined || row.run_id === run_id) &&
      (label === undefined || row.label === label) &&
      (state === undefined || row.state === state),
  );
  return { rows, unknown, more: false };
}

async function listed(filter: JobFilter & { limit: number }, caller: Caller) {
  const { jobs, more } = await list.run(filter, caller);
  return { rows: jobs, more };
}

function reportOn(row: JobRow, tailBytes: number): ReportRow {
  const trusted = row.state !== 'unreadable';
  const meta = trusted ? readMeta(row.job_dir) : undefined;
  const outcome = trusted && isTerminal(row.state) ? readOutcome(row.job_dir) : undefined;
  const log = trusted ? lstatIfAny(fileOf(row.job_dir, 'log')) : undefined;
  return {
    ...row,
    argv: meta?.worker_argv ?? null,
    cwd: meta?.cwd ?? null,
    client: meta?.client ?? null,
    ended_at: outcome?.ended_at ?? endOf(row),
    last_output_at: log && log.size > 0 ? log.mtime.toISOString() : null,
    hard_secs: meta?.supervision?.hard ?? null,
    silences: outcome?.silences ?? [],
    log_tail: trusted ? logTail(row.job_dir, tailBytes) : null,
  };
}

/** By the record's time stamp, where a runner that writes no more than that ended it. */
function endOf(row: JobRow): string | null {
  if (!isTerminal(row.state)) return null;
  return lstatIfAny(fileOf(row.job_dir, 'status'))?.mtime.toISOString() ?? null;
}
