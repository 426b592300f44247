import { renameSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { platform } from '../platform/index.ts';

/** How Windows answers while somebody else, a virus scanner too, has a file open for a moment. */
const TAKEN = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Many short tries: a reader that comes back again and again leaves short gaps. */
const LONGEST_PAUSE_MS = 16;
const RENAME_BUDGET_MS = 3000;

/** Calls `act` again, for so long, while a file is taken. On POSIX nobody can take one, so there every answer is final. */
export function patiently<T>(act: () => T, budgetMs: number): T {
  const until = performance.now() + (platform.kind === 'windows' ? budgetMs : 0);
  for (let pause = 1; performance.now() < until; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return act();
    } catch (error) {
      if (!TAKEN.has(errnoOf(error) ?? '')) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
  }
  return act();
}

/** Renames over whatever is there, also while somebody reads it. */
export function renameOver(from: string, to: string): void {
  patiently(() => renameSync(from, to), RENAME_BUDGET_MS);
}
