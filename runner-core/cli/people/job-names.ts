import { type Caller, list } from '../../index.ts';
import type { Answer } from '../render.ts';
import { visibleLine } from '../text.ts';

/** What a shell completes a JOB with: the id, a tab, and what tells it from the others. */
export async function jobNames(caller: Caller): Promise<Answer> {
  const { jobs } = await list.run({ limit: 100 }, caller);
  const lines = jobs.map(
    (job) => `${job.job_id}\t${visibleLine(`${job.label ?? ''} ${job.state}`).trim()}\n`,
  );
  return { stdout: lines.join(''), stderr: [], exitCode: 0 };
}
