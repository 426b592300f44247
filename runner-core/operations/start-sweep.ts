import { isElsewhere, isLive } from '../engine/index.ts';
import { SWEEP_BUDGET_MS } from '../limits.ts';
import { sweepRuns } from '../store/sweep.ts';
import type { Plan } from './start-plan.ts';

/** A process that lives long sweeps a place again after this time: nothing grows a day old in it sooner than that. */
const SWEEP_AGAIN_MS = 60_000;

/** When this process last came to the end of a sweep of each place (performance clock). */
const sweptMs = new Map<string, number>();

/** Removes what is old beside the run of a start, unless that start is to leave it. */
export async function sweepBeside({ request, place, runId }: Plan): Promise<void> {
  const nowMs = performance.now();
  const isFresh = nowMs - (sweptMs.get(place.runsRoot) ?? Number.NEGATIVE_INFINITY) < SWEEP_AGAIN_MS;
  if (request.sweep === false || isFresh) return;
  // A root that was set for the runs of one skill may be shared with other things than runs of jobs.
  const holdsOnlyRuns = place.runsRoot !== place.base;
  if (await sweepRuns(place.runsRoot, runId, nowMs + SWEEP_BUDGET_MS, isLiveHere, holdsOnlyRuns)) {
    sweptMs.set(place.runsRoot, nowMs);
  }
}

/** A start has no time to ask a cluster: what has no record there lives. */
async function isLiveHere(jobDir: string): Promise<boolean> {
  return isElsewhere(jobDir) || isLive(jobDir);
}
