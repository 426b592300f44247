import { watch } from 'node:fs';
import type { JobState } from '../job/state.ts';
import { WAIT_POLL_MS } from '../limits.ts';
import { fileOf } from '../store/job-dir.ts';
import { settle } from '../supervisor/settle.ts';
import type { Caller } from './operation.ts';
import type { FoundJob } from './report.ts';

export interface Watched extends FoundJob {
  readonly state: JobState;
}

/**
 * Waits until all of the jobs have settled (`any`: one of them), `budgetMs` have passed, or the caller gives up. A
 * settled state is final; only running jobs are looked at again, when their supervisor announces the end and once a
 * second besides.
 */
export async function awaitJobs(
  jobs: readonly FoundJob[],
  options: { budgetMs: number; until: 'all' | 'any' },
  caller: Pick<Caller, 'entry' | 'signal' | 'onProgress'>,
): Promise<Watched[]> {
  const until = performance.now() + options.budgetMs;
  let watched = await Promise.all(
    jobs.map(async (job) => ({ ...job, state: await settle(job.jobDir, caller.entry) })),
  );
  for (;;) {
    const running = watched.filter((job) => job.state === 'running');
    const settled = watched.length - running.length;
    const left = until - performance.now();
    const enough = running.length === 0 || (options.until === 'any' && settled > 0);
    if (enough || left <= 0 || caller.signal?.aborted) return watched;
    caller.onProgress?.({
      settled,
      total: watched.length,
      message: `${settled} of ${watched.length} settled`,
    });
    await nextNews(
      running.map((job) => job.jobDir),
      Math.min(left, WAIT_POLL_MS),
      caller.signal,
    );
    watched = await Promise.all(
      watched.map(async (job) =>
        job.state === 'running' ? { ...job, state: await settle(job.jobDir, caller.entry) } : job,
      ),
    );
  }
}

/** Resolves when one of the jobs announces its end, at the latest after `ms`. */
function nextNews(jobDirs: readonly string[], ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const endings: (() => void)[] = [];
    const done = (): void => {
      for (const end of endings.splice(0)) end();
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    endings.push(
      () => clearTimeout(timer),
      () => signal?.removeEventListener('abort', done),
    );
    for (const jobDir of jobDirs) {
      try {
        const watcher = watch(fileOf(jobDir, 'pid'), done).on('error', () => watcher.close());
        endings.push(() => watcher.close());
      } catch {
        // No watcher to be had, or no such file: the timer is what is left.
      }
    }
  });
}
