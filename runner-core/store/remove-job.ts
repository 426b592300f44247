import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lstatIfAny, namesIn, removeEmptyDir } from './owned-file.ts';
import { renameOver } from './patient.ts';
import { candidateBases, type Environment } from './roots.ts';

/** When anything last happened in a job directory, epoch ms. */
export function lastTouchedMs(jobDir: string): number {
  const times = namesIn(jobDir).map((name) => lstatIfAny(join(jobDir, name))?.mtimeMs ?? 0);
  return Math.max(0, ...times);
}

/** Bytes of the files in a job directory. */
export function bytesIn(jobDir: string): number {
  return namesIn(jobDir).reduce((sum, name) => sum + (lstatIfAny(join(jobDir, name))?.size ?? 0), 0);
}

/**
 * Takes a job directory out of every reader's way, asks once more whether it may go, and removes it; links in it are
 * removed, never followed. False where the answer had changed: then it lies where it lay before. The run's folders go
 * with their last job.
 */
export async function removeJob(jobDir: string, mayGo: (jobDir: string) => boolean): Promise<boolean> {
  const jobs = dirname(jobDir);
  const before = lstatSync(jobDir);
  const doomed = join(jobs, `.remove-${process.pid}-${process.hrtime.bigint()}`);
  renameOver(jobDir, doomed);
  const now = lstatSync(doomed);
  if (now.ino !== before.ino || now.dev !== before.dev || !mayGo(doomed)) {
    renameOver(doomed, jobDir);
    return false;
  }
  await rm(doomed, { recursive: true, force: true });
  for (const folder of [jobs, dirname(jobs)]) removeEmptyDir(folder);
  return true;
}

/** The folder of a skill goes with its last run; a base never does, nor a place for runs that was set by hand. */
export function removeEmptySkill(jobDir: string, env: Environment): void {
  const skill = dirname(dirname(dirname(jobDir)));
  if (candidateBases(env).includes(dirname(skill))) removeEmptyDir(skill);
}
