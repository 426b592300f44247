import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { RunnerError } from '../errors.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { jobsIn, runFolders } from '../store/find.ts';
import { jobIdOf, readMeta } from '../store/job-dir.ts';
import { lastTouchedMs } from '../store/remove-job.ts';
import { jobFilter } from './fields.ts';
import { defineOperation } from './operation.ts';
import { isStarting } from './removal.ts';
import { dryRun, type RemovedRow, removedRow, removeJobOf } from './remove.ts';

const OLDER_THAN_DEFAULT = '7d';
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** What a prune may take; a running or unreadable job is never asked for. */
const PRUNABLE = ['done', 'failed', 'timeout', 'died-without-result', 'never-started'] as const;

export const prune = defineOperation({
  name: 'prune',
  tool: 'prune_jobs',
  title: 'Prune jobs',
  description:
    'Removes the directories of all settled jobs in which nothing happened for a time. Narrow it by skill, run, label or state; --dry-run tells what would go.',
  input: z.strictObject({
    older_than: z.optional(
      z
        .string()
        .check(
          z.describe(
            `Only jobs untouched for so long: a number with s, m, h, d or w (${OLDER_THAN_DEFAULT}). 0s takes all.`,
          ),
        ),
    ),
    ...jobFilter,
    state: z.optional(z.enum(PRUNABLE).check(z.describe('Only jobs in this state.'))),
    dry_run: dryRun,
  }),
  output: z.object({
    jobs: z.array(removedRow),
    kept: z
      .number()
      .check(
        z.describe('Jobs that were looked at and are too young, running, just starting, or not asked for.'),
      ),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ older_than, skill, run_id, label, state, dry_run = false }, caller) => {
    const untouchedSinceMs = Date.now() - secondsOf(older_than ?? OLDER_THAN_DEFAULT) * 1000;
    const jobs: RemovedRow[] = [];
    let kept = 0;
    for (const run of runFolders(caller.env, skill)) {
      if (run_id !== undefined && run.runId !== run_id) continue;
      for (const jobDir of jobsIn(run.path)) {
        const fits =
          lastTouchedMs(jobDir) <= untouchedSinceMs &&
          (label === undefined || readMeta(jobDir)?.label === label) &&
          isAsked(jobDir, await settle(jobDir, caller.entry), state);
        if (fits) jobs.push(await removeJobOf({ ref: jobIdOf(jobDir), jobDir }, dry_run, caller));
        else kept += 1;
      }
    }
    return { jobs, kept };
  },
});

function isAsked(jobDir: string, found: JobState, state: string | undefined): boolean {
  if (state !== undefined && found !== state) return false;
  return isTerminal(found) || (found === 'never-started' && !isStarting(jobDir, found));
}

/** The seconds of `90s`, `12h`, `7d`. Throws `usage`. */
export function secondsOf(age: string): number {
  const [, count, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([smhdw])$/.exec(age.trim()) ?? [];
  const factor = SECONDS[unit];
  if (count !== undefined && factor !== undefined) return Number(count) * factor;
  throw new RunnerError(
    'usage',
    `an age is a number with s, m, h, d or w (90s, 12h, 7d), not ${JSON.stringify(age)}`,
  );
}
