/** Which jobs may be removed, and why another may not. */
import { basename, dirname } from 'node:path';
import { isLive, settle } from '../engine/index.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { isOwnJobDir, jobIdOf, readMeta, recordedState } from '../store/job-dir.ts';
import { lastTouchedMs, removeJob } from '../store/remove-job.ts';

/** A start may still be on its way until its budget is over; twice that leaves room for a slow machine. */
const STARTING_MS = 2 * ACK_BUDGET_MS;

export interface Removal {
  readonly state: JobState;
  /** Why it stays; undefined for a job that may go. */
  readonly problem: string | undefined;
}

/** The state of a job, put right where its supervisor is gone, and whether it may be removed. Cannot tell is no. */
export async function removalOf(jobDir: string, entry: string): Promise<Removal> {
  if (!isOwnJobDir(jobDir)) {
    return {
      state: 'unreadable',
      problem: `${jobDir} is not a real directory of the current user; left alone`,
    };
  }
  const state = await settle(jobDir, entry);
  if (await isBusy(jobDir, state)) return { state, problem: whyKept(state, jobDir) };
  // What goes with everything in it must be in a job's place and say that it is that job.
  const isJob = basename(dirname(jobDir)) === 'jobs' && readMeta(jobDir)?.job_id === jobIdOf(jobDir);
  const problem = isJob
    ? undefined
    : `${jobDir} is not where a job lies, or has no meta.json of this job; left alone, remove it by hand if it is in the way`;
  return { state, problem };
}

async function isBusy(jobDir: string, state: JobState): Promise<boolean> {
  if (isTerminal(state)) return false;
  if (state === 'running') return true;
  if (isStarting(jobDir, state)) return true;
  // Without a readable record nothing but its processes tells.
  return isLive(jobDir);
}

/** Whether a start may still be on its way. One that failed its preflight is over. */
export function isStarting(jobDir: string, state: JobState): boolean {
  if (state !== 'never-started' || Date.now() - lastTouchedMs(jobDir) >= STARTING_MS) return false;
  return !readMeta(jobDir)?.preflight;
}

function whyKept(state: JobState, jobDir: string): string {
  switch (state) {
    case 'running':
      return `still running; reap it first: ${jobDir}`;
    case 'never-started':
      return `it may be starting this very moment; try again in a minute: ${jobDir}`;
    default:
      return `its record cannot be read and it may be running; reap it first: ${jobDir}`;
  }
}

/** Removes a job that `removalOf` let go. False if it came to life in between; then it is as it was. */
export function remove(jobDir: string, { state }: Removal): Promise<boolean> {
  return removeJob(jobDir, (moved) => recordedState(moved) === state);
}
