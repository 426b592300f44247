/** What a person would say of an answer, in the text beside it. */
import type { FullRow, JobRow } from '../runner-core/index.ts';

function secs(value: number): string {
  return value < 10 ? `${Math.round(value * 10) / 10} s` : `${Math.round(value)} s`;
}

/** One line on how a job stands. */
export function sayRow(job: JobRow): string {
  const name = job.label === null ? job.job_id : `${job.label} (${job.job_id})`;
  const elapsed = job.elapsed_secs === null ? '' : secs(job.elapsed_secs);
  if (job.state === 'running' && job.engine?.queued) {
    const why = [job.engine.state, job.engine.detail].filter(Boolean).join(', ');
    return `${name}: queued in ${job.engine.name} for ${elapsed}${why === '' ? '' : ` (${why})`}`;
  }
  if (job.state === 'running') {
    const quiet = job.idle_secs === null ? '' : `, last output ${secs(job.idle_secs)} ago`;
    return `${name}: running for ${elapsed}${quiet}`;
  }
  const reason = job.reason === '' ? '' : `, ${job.reason}`;
  return `${name}: ${job.state}${elapsed === '' ? '' : ` after ${elapsed}`}${reason}`;
}

/** The line, and what the job has to show. */
export function sayJob(job: FullRow): string {
  const line = sayRow(job);
  if (job.state === 'running') return job.last_line === null ? line : `${line}: ${job.last_line}`;
  const shown = job.result_text ?? job.log_tail;
  return shown === null ? line : `${line}\n${shown.trimEnd()}`;
}

export function sayStarted(job: FullRow & { reused: boolean }): string {
  return job.reused ? `A job with this key was there already.\n${sayJob(job)}` : sayJob(job);
}

interface States<R extends JobRow> {
  readonly jobs: readonly R[];
  readonly unknown: readonly { problem: string }[];
}

export function sayStates({ jobs, unknown }: States<FullRow>): string {
  return [...jobs.map(sayJob), ...unknown.map(({ problem }) => problem)].join('\n');
}

export function sayReaped({ jobs, unknown }: States<JobRow>): string {
  return [...jobs.map(sayRow), ...unknown.map(({ problem }) => problem)].join('\n');
}

export function sayListed({ jobs }: { jobs: readonly JobRow[] }): string {
  return jobs.length === 0 ? 'No such jobs.' : jobs.map(sayRow).join('\n');
}

export interface SaidPage {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

export function sayPage(page: SaidPage): string {
  const body = page.text ?? `base64: ${page.base64 ?? ''}`;
  return `${body}\n[bytes ${page.offset} to ${page.next_offset ?? page.total_bytes} of ${page.total_bytes}]`;
}
