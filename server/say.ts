/** The short text beside a structured answer: what a person would say, and then what to do next. */
import type { JobRow } from '../runner-core/index.ts';

function nameOf(job: JobRow): string {
  return job.label === null ? job.job_id : `${job.job_id} (${job.label})`;
}

function secs(value: number | null): string {
  return value === null ? '' : ` ${Math.round(value)} s`;
}

export function sayJob(job: JobRow): string {
  if (job.state === 'running') {
    const quiet = job.idle_secs === null ? '' : `, last output${secs(job.idle_secs)} ago`;
    return `${nameOf(job)}: running${secs(job.elapsed_secs)}${quiet}`;
  }
  const how = job.reason === '' ? '' : ` (${job.reason})`;
  return `${nameOf(job)}: ${job.state}${how}${job.elapsed_secs === null ? '' : ` after${secs(job.elapsed_secs)}`}`;
}

function nextFor(job: JobRow): string {
  if (job.state === 'running') return 'Next: wait_jobs with this id.';
  if (job.state === 'done' && job.result_path !== null) return 'Next: job_result.';
  return 'Next: job_log shows what it printed.';
}

export function sayStarted(job: JobRow & { reused: boolean }): string {
  const already = job.reused ? 'That job was there already. ' : '';
  return `${already}${sayJob(job)}. ${nextFor(job)}`;
}

interface States {
  readonly jobs: readonly JobRow[];
  readonly unknown: readonly { problem: string }[];
  readonly deadline_passed?: boolean | null;
}

function lines({ jobs, unknown }: States): string[] {
  return [...jobs.map(sayJob), ...unknown.map(({ problem }) => problem)];
}

export function sayStates(states: States): string {
  const running = states.jobs.filter((job) => job.state === 'running');
  const next =
    running.length === 0
      ? 'All settled. Next: job_result for a done job, job_log for any other.'
      : states.deadline_passed
        ? `The deadline has passed. Next: reap_job ${running.map((job) => job.job_id).join(' ')}, then wait_jobs once more.`
        : `${running.length} of ${states.jobs.length} still running. Next: wait_jobs again.`;
  return [...lines(states), next].join('\n');
}

export function sayEnded(ended: States): string {
  return [...lines(ended), 'Next: job_log shows what a job printed before its end.'].join('\n');
}

export function sayListed({ jobs, more }: { jobs: readonly JobRow[]; more: boolean }): string {
  if (jobs.length === 0) return 'No such jobs.';
  return [...jobs.map(sayJob), ...(more ? ['There are more.'] : [])].join('\n');
}

interface PageSaid {
  readonly state: string | null;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

export function sayPage(page: PageSaid, tool: 'job_result' | 'job_log'): string {
  const body = page.text ?? `base64: ${page.base64 ?? ''}`;
  const more =
    page.next_offset === null || (page.next_offset >= page.total_bytes && page.state !== 'running')
      ? 'End.'
      : `Next: ${tool} with offset ${page.next_offset}.`;
  return `${body}\n[bytes ${page.offset} to ${page.next_offset ?? page.total_bytes} of ${page.total_bytes}. ${more}]`;
}
