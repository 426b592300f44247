import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { leaseRecord } from '../job/records.ts';
import { shaped } from '../job/shape.ts';
import { RECORD_READ_CAP } from '../limits.ts';
import { claimFile, createExclusive, namesIn, readOwned, unlinkQuietly } from './owned-file.ts';

/** Who may act for a job: its supervisor holds number 0, whoever takes over from a dead holder the next one. */
export interface Lease {
  readonly number: number;
  readonly holder: { readonly pid: number; readonly identity: string } | undefined;
}

const NAME = /^\.lease-(\d+)$/;

/** The highest lease of the job. Number 0 has no file: its holder is in the `pid` record. */
export function currentLease(jobDir: string): Lease {
  const numbers = namesIn(jobDir).map((name) => Number(NAME.exec(name)?.[1] ?? 0));
  const number = Math.max(0, ...numbers);
  return { number, holder: number === 0 ? undefined : readHolder(join(jobDir, `.lease-${number}`)) };
}

function readHolder(path: string): Lease['holder'] {
  try {
    return shaped(leaseRecord, JSON.parse(readOwned(path, RECORD_READ_CAP).toString('utf8')));
  } catch {
    // Tidied away with the record of the end, or spoilt: nobody is known to hold it.
    return undefined;
  }
}

/** Takes the lease after `after`: true for exactly one of any number of racing callers. */
export function takeLease(
  jobDir: string,
  after: Lease,
  holder: NonNullable<Lease['holder']>,
): Lease | undefined {
  const number = after.number + 1;
  try {
    claimFile(join(jobDir, `.lease-${number}`), `${JSON.stringify(holder)}\n`);
    if (currentLease(jobDir).number === number) return { number, holder };
    // The caller saw a lease that is long past: its number was only free because it had been given back.
    unlinkQuietly(join(jobDir, `.lease-${number}`));
    return undefined;
  } catch (error) {
    const code = errnoOf(error);
    // ENOENT: the record of the end was published meanwhile, and what lay about was tidied away.
    if (code === 'EEXIST' || code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Gives a lease back, unless another one was taken after it: numbers below a taken one are never free again. */
export function releaseLease(jobDir: string, lease: Lease): void {
  if (currentLease(jobDir).number === lease.number) unlinkQuietly(join(jobDir, `.lease-${lease.number}`));
}

/**
 * The right to start the worker of a job that holds a key. A start leaves it for its supervisor, and whoever wants the key
 * of a start that died takes it away: of all these the one that removes the file has it.
 */
function rightToStart(jobDir: string): string {
  return join(jobDir, '.lease-start');
}

export function leaveRightToStart(jobDir: string, starter: NonNullable<Lease['holder']>): void {
  createExclusive(rightToStart(jobDir), `${JSON.stringify(starter)}\n`);
}

/** Who left it, as long as nobody has taken it. */
export function starterOf(jobDir: string): Lease['holder'] {
  return readHolder(rightToStart(jobDir));
}

/** True for exactly one of those that ask. */
export function takeRightToStart(jobDir: string): boolean {
  try {
    unlinkSync(rightToStart(jobDir));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

export function dropRightToStart(jobDir: string): void {
  unlinkQuietly(rightToStart(jobDir));
}
