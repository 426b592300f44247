/** A small file system of its own at a test's base, for the time of a part of the test. Root only. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { eventually } from './eventually.ts';
import type { TempBase } from './temp-base.ts';

/**
 * Runs `part` while `temp.base` is a tmpfs of `size` ("1m"), and unmounts it. Fails if `part` leaves a process running.
 * `part` gets a function that mounts it anew as read-only or writable.
 */
export async function onTinyDisk(
  temp: TempBase,
  size: string,
  part: (remount: (mode: 'ro' | 'rw') => Promise<unknown>) => Promise<void>,
): Promise<void> {
  mkdirSync(temp.base, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', temp.base]);
  try {
    await part((mode) => patiently('mount', '-o', `remount,${mode}`, temp.base));
    await eventually(() => temp.ledger.living().length === 0);
  } finally {
    await temp.ledger.endAll();
    await patiently('umount', temp.base);
  }
}

/** The last thread of a process that was just killed may hold the disk for a moment longer than it can be seen. */
function patiently(program: string, ...args: readonly string[]): Promise<unknown> {
  return eventually(() => {
    execFileSync(program, args, { stdio: 'pipe' });
    return true;
  });
}
