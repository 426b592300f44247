import { readdirSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf, messageOf, RunnerError } from '../errors.ts';
import { formatJobId, isJobId } from '../job/id.ts';
import { CLAIM_ATTEMPTS } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { claimFile, readOwned } from './owned-file.ts';
import { ensurePrivateTree } from './private-dir.ts';
import type { Workplace } from './roots.ts';

/** Makes a new job directory in the run: an exclusive mkdir, so no two callers share one. */
export async function claimJobDir(place: Workplace, runId: string): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  const jobs = join(place.runsRoot, runId, 'jobs');
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
    try {
      ensurePrivateTree(place.base, jobs, { defaultBase: place.defaultBase });
      const jobDir = join(jobs, formatJobId(new Date(), randomBytes(4).toString('hex')));
      markInUse(join(place.runsRoot, runId));
      platform.makePrivateDir(jobDir);
      return jobDir;
    } catch (error) {
      const refusal = error instanceof RunnerError ? error : undefined;
      const code = errnoOf(refusal ? refusal.cause : error);
      // ENOENT: a sweep or a removal took the empty run, or the skill with it, away in between.
      const isRace = code === 'EEXIST' || code === 'ENOENT';
      if (refusal && (!isRace || attempt === CLAIM_ATTEMPTS - 1)) throw refusal;
      if (!isRace) {
        throw new RunnerError('system', `cannot make a job directory in ${jobs}: ${messageOf(error)}`, {
          cause: error,
        });
      }
    }
  }
  throw new RunnerError(
    'system',
    `could not claim a job directory in ${jobs} after ${CLAIM_ATTEMPTS} attempts; try again`,
  );
}

/** A sweep leaves a run alone that somebody has just come into. */
function markInUse(runFolder: string): void {
  const now = new Date();
  utimesSync(runFolder, now, now);
}

/** The job that holds a key in a run; of racing starts, and of takeovers of a start that failed, one wins each number. */
export interface KeyHolder {
  readonly jobDir: string;
  readonly number: number;
}

async function keyName(key: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(key).digest('hex').slice(0, 40);
}

/** The last holder of `key` in the run, if any. */
export async function keyHolder(runFolder: string, key: string): Promise<KeyHolder | undefined> {
  const folder = join(runFolder, 'keys');
  const prefix = `${await keyName(key)}-`;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const number = Math.max(
    0,
    ...names.flatMap((name) => {
      const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      return /^\d+$/.test(rest) ? Number(rest) : [];
    }),
  );
  if (number === 0) return undefined;
  const jobId = readOwned(join(folder, `${prefix}${number}`), 256)
    .toString('utf8')
    .trim();
  if (!isJobId(jobId))
    throw new RunnerError('refused', `the record of this key in ${folder} is spoilt; use another key`);
  return { jobDir: join(runFolder, 'jobs', jobId), number };
}

/** Gives `key` to a job, after `previous`; false if another caller was first. */
export async function takeKey(
  jobDir: string,
  key: string,
  previous: KeyHolder | undefined,
): Promise<boolean> {
  const runFolder = dirname(dirname(jobDir));
  const folder = join(runFolder, 'keys');
  ensurePrivateTree(runFolder, folder, { defaultBase: true });
  try {
    claimFile(join(folder, `${await keyName(key)}-${(previous?.number ?? 0) + 1}`), `${basename(jobDir)}\n`);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}
