/** What supervisors cost while nothing happens. */

import { median } from './figures.ts';
import { pause } from './interruption.ts';
import { contextSwitches, pssKib } from './process-cost.ts';

/** What a start sets going is over by then. */
const CALM_MS = 15_000;
const WATCH_MS = 20_000;

export interface Asleep {
  readonly jobs: number;
  readonly pssMib: number;
  readonly wakeUpsPerSec: number;
}

/** Medians over the processes: memory of each, and how often a second it ran. */
export async function asleep(pids: readonly number[]): Promise<Asleep> {
  await pause(CALM_MS);
  const before = pids.map(contextSwitches);
  await pause(WATCH_MS);
  const perSec = pids.map((pid, at) => (contextSwitches(pid) - (before[at] ?? 0)) / (WATCH_MS / 1000));
  return { jobs: pids.length, pssMib: median(pids.map(pssKib)) / 1024, wakeUpsPerSec: median(perSec) };
}
