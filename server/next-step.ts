/** What to do with an answer: the one step that comes next, with its arguments, or that there is none. */
import type { FullRow, JobRow } from '../runner-core/index.ts';
import type { SaidPage } from './say.ts';

function ids(jobs: readonly JobRow[]): string {
  return `[${jobs.map((job) => JSON.stringify(job.job_id)).join(', ')}]`;
}

/** After one job was started or looked at. */
export function nextForJob(job: FullRow): string {
  switch (job.state) {
    case 'running':
      return `wait_jobs with jobs ${ids([job])}.`;
    case 'done':
      return nextForDone(job);
    case 'never-started':
      if (job.reason.startsWith('its directory is gone'))
        return 'nothing more can be told of it; make sure that it runs no longer before you start it again.';
      return 'nothing ran. Put right what the reason says, then start_job again.';
    case 'unreadable':
      return 'its records cannot be trusted; look at job_dir yourself.';
    default:
      return `${whatElse(job)}. ${cureFor(job)}`;
  }
}

/** By how the reason begins, see job/decide.ts and job/classify.ts. */
const CURES: readonly (readonly [RegExp, string])[] = [
  [/^no output for /, 'Start it again with a larger idle_secs, or let it print as it works.'],
  [/^hard cap /, 'Start it again with a larger hard_secs.'],
  [/^out\.log exceeded /, 'Start it again printing less, or with a larger log_max_bytes.'],
  [/^result exceeded /, 'Start it again with a smaller result, or a larger result_max_bytes.'],
];

function cureFor({ reason }: FullRow): string {
  const known = CURES.find(([begins]) => begins.test(reason));
  return known?.[1] ?? 'Put right what went wrong before you start it again.';
}

function whatElse(job: FullRow): string {
  if (job.log_bytes === 0) return 'it printed nothing';
  return sawWholeLog(job)
    ? 'log_tail is all that it printed'
    : `job_log with job "${job.job_id}" shows more than log_tail`;
}

function nextForDone(job: FullRow): string {
  if (job.result_bytes === null) {
    if (job.log_bytes === 0) return 'nothing more; it printed nothing and declared no result_path.';
    return sawWholeLog(job)
      ? 'nothing more; log_tail is all that it printed.'
      : `nothing more if log_tail is enough; else job_log with job "${job.job_id}".`;
  }
  const shown = Buffer.byteLength(job.result_text ?? '');
  if (shown === job.result_bytes) return 'nothing more; result_text is the whole result.';
  return `job_result with job "${job.job_id}"${shown === 0 ? '' : ` and offset ${shown}`} for the rest of the ${job.result_bytes} bytes, or read result_path yourself.`;
}

function sawWholeLog(job: FullRow): boolean {
  // Escapes and white space at the end are not shown.
  return job.log_bytes !== null && job.log_bytes <= Buffer.byteLength(job.log_tail ?? '') + 2;
}

interface States {
  readonly jobs: readonly FullRow[];
  readonly unknown: readonly unknown[];
  readonly deadline_passed?: boolean | null;
}

export function nextForStates({ jobs, unknown, deadline_passed }: States): string {
  const [only, ...others] = jobs;
  const running = jobs.filter((job) => job.state === 'running');
  if (!only) return 'list_jobs shows the jobs there are.';
  if (running.length > 0) {
    return deadline_passed
      ? `the deadline has passed: reap_job with jobs ${ids(running)}, then wait_jobs once more.`
      : `${running.length} of ${jobs.length} still running, which is no error: wait_jobs with jobs ${ids(running)}.`;
  }
  if (others.length === 0 && unknown.length === 0) return nextForJob(only);
  const cut = jobs.filter(
    (job) =>
      job.state === 'done' &&
      job.result_bytes !== null &&
      job.result_bytes !== Buffer.byteLength(job.result_text ?? ''),
  );
  const missing = unknown.length === 0 ? '' : ' list_jobs finds jobs whose ids are lost.';
  return cut.length === 0
    ? `all settled; nothing more unless you need the whole of a log (job_log).${missing}`
    : `all settled; job_result for the rest of ${ids(cut)}.${missing}`;
}

export function nextForReaped({
  jobs,
  unknown,
}: {
  jobs: readonly (JobRow & { problem: string | null })[];
  unknown: readonly unknown[];
}): string {
  const stuck = jobs.filter((job) => job.problem !== null);
  if (stuck.length > 0) return `reap_job again for ${ids(stuck)}, or look at job_dir.`;
  return unknown.length > 0
    ? 'list_jobs shows the jobs there are.'
    : 'nothing more; job_log shows what a job printed before its end.';
}

export function nextForListed({
  jobs,
  next_cursor,
}: {
  jobs: readonly JobRow[];
  next_cursor: string | null;
}): string {
  const running = jobs.filter((job) => job.state === 'running');
  const more = next_cursor === null ? '' : ` There are more: list_jobs with cursor "${next_cursor}".`;
  if (jobs.length === 0) return 'start_job, or list_jobs with fewer filters.';
  return running.length > 0
    ? `wait_jobs with jobs ${ids(running)}; job_result or job_log for the others.${more}`
    : `job_result for a done job, job_log for any other.${more}`;
}

export function nextForResult(page: SaidPage): string {
  return page.next_offset === null
    ? 'nothing more; that was the end.'
    : `job_result with offset ${page.next_offset} for more, or read path yourself.`;
}

export function nextForLog(page: SaidPage & { state: string }): string {
  const next = page.next_offset ?? page.total_bytes;
  if (next < page.total_bytes) return `job_log with offset ${next} for more, or read path yourself.`;
  if (page.state === 'running')
    return `wait_jobs for its end, or job_log with offset ${next} and wait_secs for more output.`;
  const earlier = page.offset > 0 ? ' Earlier output: a smaller offset.' : '';
  return `nothing more; that was the end, the job is ${page.state}.${earlier}`;
}
