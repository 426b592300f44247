import { renameSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { platform } from '../platform/index.ts';

/** How Windows answers while somebody else, a virus scanner too, has a file open for a moment. */
const TAKEN = new Set(['EPERM', 'EACCES', 'EBUSY']);
const PAUSES_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** Calls `act` again for about a second as long as a file is taken. On POSIX nobody can take one, so there it is final. */
export function patiently<T>(act: () => T, longestMs = 512): T {
  for (const pause of platform.kind === 'windows' ? PAUSES_MS : []) {
    try {
      return act();
    } catch (error) {
      if (pause > longestMs || !TAKEN.has(errnoOf(error) ?? '')) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
  }
  return act();
}

/** Renames over whatever is there, also while somebody reads it. */
export function renameOver(from: string, to: string): void {
  patiently(() => renameSync(from, to));
}
