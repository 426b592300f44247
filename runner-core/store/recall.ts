import type { Stats } from 'node:fs';
import { statOf } from './look.ts';

const recollections = new Map<string, { readonly stat: Stats; readonly value: unknown }>();
const RECOLLECTIONS_MAX = 4000;
/** A larger file is read again: what is kept must not add up. */
const FILE_MAX_BYTES = 16 * 1024;

/**
 * The system's clock for time stamps ticks every 1 to 10 ms (CONFIG_HZ, https://man7.org/linux/man-pages/man7/time.7.html):
 * a file that was changed later than this before the look may be changed once more and show the same time.
 */
const TICKS_MS = 100;

/** Whoever changes a file, its owner or its mode, or puts another in its place, changes one of these; see inode(7). */
function isUntouched(then: Stats, now: Stats): boolean {
  return (
    then.ctimeMs === now.ctimeMs &&
    then.mtimeMs === now.mtimeMs &&
    then.ino === now.ino &&
    then.dev === now.dev &&
    then.size === now.size
  );
}

/** What `read` makes of the file at `path`, or made of it before if nobody has touched it since: reading takes longer than looking. */
export function recalled<T>(path: string, read: () => T | undefined): T | undefined {
  const stat = statOf(path);
  const before = recollections.get(path);
  if (stat && before && isUntouched(before.stat, stat)) return before.value as T;
  const value = read();
  if (stat && value !== undefined && stat.size <= FILE_MAX_BYTES && Date.now() - stat.ctimeMs > TICKS_MS) {
    if (recollections.size >= RECOLLECTIONS_MAX) recollections.clear();
    recollections.set(path, { stat, value });
  }
  return value;
}
