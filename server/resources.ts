import {
  type Caller,
  type JobRow,
  list,
  readArtifact,
  readLogFile,
  readOutcomeFile,
  status,
  type Watching,
  watchJob,
} from '../runner-core/index.ts';
import { DOCTOR_RESOURCE } from './doctor.ts';
import { JOB_FILES, type JobFile, jobUri, parseJobUri } from './job-uri.ts';

const PAGE_JOBS = 30;
const COMPLETIONS_MAX = 100;

const MIME: Readonly<Record<JobFile, string>> = {
  log: 'text/plain',
  result: 'application/octet-stream',
  outcome: 'application/json',
};

const WHAT: Readonly<Record<JobFile, string>> = {
  log: 'What the job printed so far, stdout and stderr together.',
  result: 'The result file of a done job.',
  outcome: 'How the job ended: state, reason, exit code, times, sizes.',
};

export const TEMPLATES = JOB_FILES.map((file) => ({
  name: `job-${file}`,
  title: `Job ${file}`,
  uriTemplate: `peer-job://{job_id}/${file}`,
  description: WHAT[file],
  mimeType: MIME[file],
}));

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description: string;
}

/** What the server sees, and the files that there are of the newest jobs, a page at a time. */
export async function listResources(
  cursor: string | undefined,
  caller: Caller,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  const { jobs, next_cursor } = await list.run({ limit: PAGE_JOBS, cursor }, caller);
  const files = jobs.flatMap((job) => filesOf(job).flatMap((file) => describe(job, file)));
  const resources = cursor === undefined ? [DOCTOR_RESOURCE, ...files] : files;
  return next_cursor === null ? { resources } : { resources, nextCursor: next_cursor };
}

function filesOf(job: JobRow): JobFile[] {
  if (job.state === 'unreadable' || job.state === 'never-started') return [];
  if (job.state === 'running') return ['log'];
  return job.state === 'done' && job.result_path !== null ? ['log', 'result', 'outcome'] : ['log', 'outcome'];
}

function describe(job: JobRow, file: JobFile): ListedResource[] {
  const uri = jobUri(job.job_id, file);
  const name = `${file} of ${job.label ?? job.job_id}`;
  return uri === undefined
    ? []
    : [{ uri, name, mimeType: MIME[file], description: `${job.state}. ${WHAT[file]}` }];
}

export type ResourceContent = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

/** The whole file, as text if it is UTF-8. Throws a RunnerError; undefined for a URI that is none of ours. */
export async function readResource(uri: string, caller: Caller): Promise<ResourceContent | undefined> {
  const named = parseJobUri(uri);
  if (!named) return undefined;
  const data = await readFile(named.jobId, named.file, caller);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
    const mimeType = named.file === 'result' ? 'text/plain' : MIME[named.file];
    return { uri, mimeType, text };
  } catch {
    // Not text: the bytes as they are.
    return { uri, mimeType: 'application/octet-stream', blob: data.toString('base64') };
  }
}

async function readFile(jobId: string, file: JobFile, caller: Caller): Promise<Buffer> {
  switch (file) {
    case 'log':
      return readLogFile(jobId, caller);
    case 'outcome':
      return readOutcomeFile(jobId, caller);
    case 'result':
      return (await readArtifact({ job: jobId }, caller)).data;
  }
}

/** Ids that begin with `prefix`, newest first. */
export async function completeJobId(
  prefix: string,
  caller: Caller,
): Promise<{ values: string[]; hasMore: boolean }> {
  const { jobs, more } = await list.run({ limit: 1000 }, caller);
  const fitting = jobs.map((job) => job.job_id).filter((id) => id.startsWith(prefix));
  return { values: fitting.slice(0, COMPLETIONS_MAX), hasMore: more || fitting.length > COMPLETIONS_MAX };
}

/** Tells subscribers once that a job has settled. */
export class Subscriptions {
  readonly #watchings = new Map<string, Promise<Watching>>();
  readonly #tell: (uri: string) => void;

  constructor(tell: (uri: string) => void) {
    this.#tell = tell;
  }

  /** False for a URI that names no job. */
  async add(uri: string, caller: Caller): Promise<boolean> {
    const named = parseJobUri(uri);
    if (!named) return false;
    const { jobs } = await status.run({ jobs: [named.jobId] }, caller);
    const [job] = jobs;
    if (!job) return false;
    if (job.state !== 'running' || this.#watchings.has(uri)) return true;
    const settled = (): void => {
      this.remove(uri);
      this.#tell(uri);
    };
    const watching = watchJob(job.job_dir, caller.entry, settled);
    this.#watchings.set(uri, watching);
    await watching;
    return true;
  }

  remove(uri: string): void {
    const watching = this.#watchings.get(uri);
    this.#watchings.delete(uri);
    void watching?.then(({ end }) => end());
  }

  close(): void {
    for (const uri of [...this.#watchings.keys()]) this.remove(uri);
  }
}
