/** `peer-job://{job_id}/log`, `/result`, `/outcome`. */
import { isJobId } from '../runner-core/index.ts';

export const JOB_FILES = ['log', 'result', 'outcome'] as const;
export type JobFile = (typeof JOB_FILES)[number];

/** Undefined for a reference that is not an id. */
export function jobUri(jobId: string, file: JobFile): string | undefined {
  return isJobId(jobId) ? `peer-job://${jobId}/${file}` : undefined;
}

/** What a URI names, or undefined where it is none of ours. Some clients write hosts in small letters. */
export function parseJobUri(uri: string): { jobId: string; file: JobFile } | undefined {
  const [, id = '', name] = /^peer-job:\/\/([^/]+)\/([a-z]+)$/.exec(uri) ?? [];
  const jobId = id.replace(/^(\d{8})t(\d{6})z-/, '$1T$2Z-');
  const file = JOB_FILES.find((known) => known === name);
  return file !== undefined && isJobId(jobId) ? { jobId, file } : undefined;
}
