/** The same calls with ever more jobs alive. */

import { type Samples, timed } from './figures.ts';
import { Gate } from './gate.ts';
import { pause } from './interruption.ts';
import type { Session } from './session.ts';

const SLEEPER = ['sleep', '3000'];
/** Starts under way at once while the crowd grows. */
const AT_ONCE = 4;
const CALLS = 15;
const CALM_MS = 3000;
/** The next supervisor is warm by then, as it is between two calls of a model. */
const BETWEEN_STARTS_MS = 700;

export interface Started {
  readonly id: string;
  readonly dir: string;
}

/** Starts sleeping jobs until there are `count`, and gives milliseconds per start while it did. */
export async function grow(session: Session, crowd: Started[], count: number): Promise<number> {
  const missing = count - crowd.length;
  const startedMs = performance.now();
  let left = missing;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const job = await session.call('start_job', { argv: SLEEPER, idle_secs: 3000, hard_secs: 3000 });
      crowd.push({ id: job.job_id ?? '', dir: job.job_dir ?? '' });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return (performance.now() - startedMs) / Math.max(1, missing);
}

/** Samples of each call under the name of the rung. */
export async function measureRung(
  session: Session,
  crowd: readonly Started[],
  rung: string,
  samples: Samples,
  dir: string,
): Promise<void> {
  await pause(CALM_MS);
  for (let call = 0; call < CALLS; call += 1) {
    const gate = new Gate(dir);
    try {
      const started = await timed(() => session.call('start_job', { argv: gate.worker }));
      samples.add('start_job', rung, started.ms);
      await pause(BETWEEN_STARTS_MS);
      const { id = '' } = crowd[Math.floor(Math.random() * crowd.length)] ?? {};
      const status = await timed(() => session.call('job_status', { jobs: [id] }));
      samples.add('job_status', rung, status.ms);
      const news = session.call('wait_jobs', { jobs: [started.value.job_id], max_secs: 40 });
      await pause(BETWEEN_STARTS_MS);
      const openedMs = gate.open();
      await news;
      samples.add('exit to wait_jobs', rung, performance.now() - openedMs);
    } finally {
      gate.close();
    }
  }
  for (let call = 0; call < 5; call += 1) {
    const listed = await timed(() => session.call('list_jobs', { limit: 1000, state: 'running' }));
    const seen = listed.value.jobs?.length ?? 0;
    if (seen < Math.min(1000, crowd.length)) throw new Error(`${crowd.length} jobs live, ${seen} are listed`);
    samples.add('list_jobs', rung, listed.ms);
  }
}
