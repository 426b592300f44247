/** Whole files of a job, for readers that take them in one piece. */
import { errnoOf, RunnerError } from '../errors.ts';
import { LOG_MAX_BYTES } from '../limits.ts';
import { findJob } from '../store/find.ts';
import { fileOf, isOwnJobDir, readMeta } from '../store/job-dir.ts';
import { readOwned } from '../store/owned-file.ts';
import type { Caller } from './operation.ts';

/** The log may run over its cap for a moment before it is cut back. */
const LOG_OVERSHOOT_BYTES = 1024 * 1024;
const OUTCOME_MAX_BYTES = 64 * 1024;

/** Everything that a job has printed so far. Throws `unknown`, `absent` or `refused`. */
export function readLogFile(ref: string, caller: Caller): Buffer {
  const jobDir = ownJob(ref, caller);
  const capBytes = readMeta(jobDir)?.supervision?.log_max ?? LOG_MAX_BYTES.fallback;
  return readFile(fileOf(jobDir, 'log'), capBytes + LOG_OVERSHOOT_BYTES, 'nothing was started');
}

/** `outcome.json` as it is. Throws `absent` before there is one. */
export function readOutcomeFile(ref: string, caller: Caller): Buffer {
  const path = fileOf(ownJob(ref, caller), 'outcome');
  return readFile(path, OUTCOME_MAX_BYTES, 'the job has not settled; wait for it first');
}

function ownJob(ref: string, caller: Caller): string {
  const jobDir = findJob(ref, { env: caller.env, cwd: caller.cwd });
  if (isOwnJobDir(jobDir)) return jobDir;
  throw new RunnerError('refused', `job state unreadable (ownership or corruption): ${jobDir}`);
}

function readFile(path: string, capBytes: number, whyAbsent: string): Buffer {
  try {
    return readOwned(path, capBytes);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    throw new RunnerError('absent', `nothing at ${path}: ${whyAbsent}`, { cause: error });
  }
}
