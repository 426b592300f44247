import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '../errors.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { type KeyHolder, keyHolder, takeKey } from '../store/claim.ts';
import { fileOf, recordedState } from '../store/job-dir.ts';
import { dropRightToStart, leaveRightToStart, starterOf, takeRightToStart } from '../store/lease.ts';
import { lstatIfAny, removeJobDir, unlinkQuietly } from '../store/owned-file.ts';
import { ownHolder } from '../supervisor/identity.ts';

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
  leaveRightToStart(jobDir, await ownHolder());
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

/**
 * Whether a job was detached. Waits for one whose start is still going on, as long as a start may take, and takes the right
 * to start from one that died: its supervisor may still be on the way.
 */
async function underWay(jobDir: string): Promise<boolean> {
  const untilMs = performance.now() + ACK_BUDGET_MS;
  for (;;) {
    if (!lstatIfAny(jobDir)) return false;
    if (recordedState(jobDir) !== 'never-started') return true;
    const log = lstatIfAny(fileOf(jobDir, 'log'));
    if (!log) return false;
    const starter = starterOf(jobDir);
    // The clock may have been set since: nobody waits longer than that by his own either.
    const isLate = Date.now() - log.mtimeMs > ACK_BUDGET_MS || performance.now() > untilMs;
    if (isLate || (starter && (await isGone(starter)))) {
      if (!starter) return false;
      if (takeRightToStart(jobDir)) {
        giveUpStart(jobDir);
        return false;
      }
    }
    await sleep(POLL_MS);
  }
}

async function isGone({ pid, identity }: { pid: number; identity: string }): Promise<boolean> {
  return (await platform.whereabouts(pid, identity)).state === 'gone';
}

/** A job without a log never comes to run: so it looks where nothing was detached, and does not keep its key. */
export function giveUpStart(jobDir: string): void {
  if (recordedState(jobDir) !== 'never-started') return;
  dropRightToStart(jobDir);
  unlinkQuietly(fileOf(jobDir, 'log'));
}
