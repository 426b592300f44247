import type { JobState } from '../job/state.ts';
import { standingOf } from './excerpt.ts';
import type { FoundJob } from './find-jobs.ts';
import { watchJob } from './job-watch.ts';
import type { Caller } from './operation.ts';

/** A wait that tells its progress looks this often at what there is to tell. */
const PROGRESS_LOOK_MS = 1000;

export interface Watched extends FoundJob {
  readonly state: JobState;
}

/**
 * Waits until all of the jobs have settled (`any`: one of them), `budgetMs` have passed, or the caller gives up. A
 * settled state is final.
 */
export async function awaitJobs(
  jobs: readonly FoundJob[],
  options: { budgetMs: number; until: 'all' | 'any' },
  caller: Pick<Caller, 'entry' | 'signal' | 'onProgress'>,
): Promise<Watched[]> {
  const untilMs = performance.now() + options.budgetMs;
  const news = new News(caller.signal);
  const watchings = await Promise.all(
    jobs.map(async ({ jobDir }) => watchJob(jobDir, caller.entry, news.tell)),
  );
  try {
    for (;;) {
      const watched = jobs.map((job, at) => ({ ...job, state: watchings[at]?.state() ?? 'running' }));
      const running = watched.filter((job) => job.state === 'running').length;
      const enough = running === 0 || (options.until === 'any' && running < watched.length);
      const leftMs = untilMs - performance.now();
      if (enough || leftMs <= 0 || caller.signal?.aborted) return watched;
      caller.onProgress?.({
        settled: watched.length - running,
        total: watched.length,
        message: () => standingOf(watched),
      });
      await news.next(caller.onProgress ? Math.min(leftMs, PROGRESS_LOOK_MS) : leftMs);
    }
  } finally {
    for (const watching of watchings) watching.end();
    news.close();
  }
}

/** Wakes a wait for whatever comes first; news that came while nobody waited is not lost. */
class News {
  readonly #signal: AbortSignal | undefined;
  #unheard = false;
  #wake = (): void => undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.tell, { once: true });
  }

  readonly tell = (): void => {
    this.#unheard = true;
    this.#wake();
  };

  async next(ms: number): Promise<void> {
    if (!this.#unheard) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#unheard = false;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.tell);
  }
}
