import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '../errors.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { type KeyHolder, keyHolder, takeKey } from '../store/claim.ts';
import { fileOf, recordedState } from '../store/job-dir.ts';
import { lstatIfAny, removeJobDir } from '../store/owned-file.ts';

export interface KeyedStart {
  readonly runFolder: string;
  readonly key: string | undefined;
}

const POLL_MS = 20;

/** The job that was started with this key before, once it is under way; undefined where this start may go on. */
export async function firstWithKey({ runFolder, key }: KeyedStart): Promise<string | undefined> {
  const holder = key === undefined ? undefined : await keyHolder(runFolder, key);
  return holder && (await underWay(holder.jobDir)) ? holder.jobDir : undefined;
}

/**
 * Takes the key for a claimed job, or gives up the claim for the job that was faster and returns that one. A holder
 * that never came to run does not keep the key.
 */
export async function yieldToFirst(
  { runFolder, key }: KeyedStart,
  jobDir: string,
): Promise<string | undefined> {
  if (key === undefined) return undefined;
  for (
    let previous: KeyHolder | undefined = await keyHolder(runFolder, key);
    ;
    previous = await keyHolder(runFolder, key)
  ) {
    if (previous && (await underWay(previous.jobDir))) {
      removeJobDir(jobDir);
      return previous.jobDir;
    }
    if (await takeKey(jobDir, key, previous)) return undefined;
    if ((await keyHolder(runFolder, key)) === undefined)
      throw new RunnerError('system', `the keys of ${runFolder} were removed meanwhile; start again`);
  }
}

/** Whether a job was detached; waits for one whose start is still going on, as long as a start may take. */
async function underWay(jobDir: string): Promise<boolean> {
  for (;;) {
    if (!lstatIfAny(jobDir)) return false;
    if (recordedState(jobDir) !== 'never-started') return true;
    const age = Date.now() - (lstatIfAny(fileOf(jobDir, 'log'))?.mtimeMs ?? 0);
    if (age > ACK_BUDGET_MS) return false;
    await sleep(POLL_MS);
  }
}
