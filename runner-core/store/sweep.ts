import { lstatSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTerminal } from '../job/state.ts';
import { SWEEP_AGE_MS } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { jobsIn } from './find.ts';
import { recordedState } from './job-dir.ts';
import { lstatIfAny, namesIn } from './owned-file.ts';

const BREATHE_EVERY = 100;
/** So many folders are looked at, or one removed, whatever the time: on a slow machine too each sweep gets somewhere. */
const LEAST_FOLDERS = 16;

/** Says whether anybody still works for this job; asked only for jobs without a terminal record. */
export type IsLive = (jobDir: string) => Promise<boolean>;

/**
 * Removes the run folders beside `keepRunId` in which nothing happened for 24 hours and nothing lives, until
 * `untilMs` (performance clock). Never throws; links are never followed. What it does not get to waits for the next start:
 * then it gives false. Unless the root `holdsOnlyRuns`, folders without jobs are somebody's own.
 */
export async function sweepRuns(
  runsRoot: string,
  keepRunId: string,
  untilMs: number,
  isLive: IsLive,
  holdsOnlyRuns = true,
): Promise<boolean> {
  const names = namesIn(runsRoot);
  // A few folders that take all the time must not keep the others from their turn for ever.
  const first = Math.floor(Math.random() * names.length);
  let removed = false;
  for (const [index, name] of [...names.slice(first), ...names.slice(0, first)].entries()) {
    if (performance.now() > untilMs && (removed || index >= LEAST_FOLDERS)) return false;
    if (name === keepRunId || !(holdsOnlyRuns || holdsJobs(join(runsRoot, name)))) continue;
    // Whoever else waits in this process is not kept waiting by many folders.
    if (index % BREATHE_EVERY === BREATHE_EVERY - 1) await nextTurn();
    // Best effort: another sweep may have been there first, or the disk refuses.
    removed = (await sweepRun(runsRoot, name, isLive).catch(() => false)) || removed;
  }
  return true;
}

/** Whether it is gone. */
async function sweepRun(runsRoot: string, name: string, isLive: IsLive): Promise<boolean> {
  const folder = join(runsRoot, name);
  // Looked at once more with nothing in between: a start marks the run that it comes into.
  if (!(await isExpired(folder, isLive)) || isYoung(folder)) return false;
  // Out of every reader's way first; a start that came into this run all the same gets it back.
  const doomed = join(runsRoot, `.sweep-${process.pid}-${process.hrtime.bigint()}`);
  renameSync(folder, doomed);
  if (await isExpired(doomed, isLive)) {
    await rm(doomed, { recursive: true, force: true });
    return true;
  }
  renameSync(doomed, folder);
  return false;
}

function holdsJobs(folder: string): boolean {
  return lstatIfAny(join(folder, 'jobs'))?.isDirectory() ?? false;
}

function isYoung(path: string): boolean {
  return Date.now() - lstatSync(path).mtimeMs < SWEEP_AGE_MS;
}

/** True for a real folder of the user's that is old, as are the records of its jobs, and holds no live job. */
async function isExpired(folder: string, isLive: IsLive): Promise<boolean> {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || !platform.ownsPath(folder, stat) || isYoung(folder)) return false;
  for (const jobDir of jobsIn(folder)) {
    // A directory just claimed has no record in it yet.
    if (isYoung(jobDir)) return false;
    if (namesIn(jobDir).some((name) => isYoung(join(jobDir, name)))) return false;
    // A torn status says nothing about the worker.
    if (!isTerminal(recordedState(jobDir)) && (await isLive(jobDir))) return false;
  }
  return true;
}
