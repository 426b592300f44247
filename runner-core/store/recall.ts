import type { Stats } from 'node:fs';
import { statOf } from './look.ts';

const KEPT_MAX = 4000;
/** A larger file is read again: what is kept must not add up. */
const FILE_MAX_BYTES = 4096;

/**
 * A file that was changed this shortly before the look may be changed once more and show the same time. The clock of time
 * stamps ticks every 1 to 10 ms (CONFIG_HZ, https://man7.org/linux/man-pages/man7/time.7.html); a file system that keeps
 * nothing but whole seconds goes by one or two of those (ext3, HFS+, FAT).
 */
const SETTLED_MS = 100;
const SETTLED_BY_SECONDS_MS = 2500;

function isSettled({ ctimeMs, mtimeMs }: Stats): boolean {
  const bySeconds = ctimeMs % 1000 === 0 || mtimeMs % 1000 === 0;
  return Date.now() - Math.max(ctimeMs, mtimeMs) > (bySeconds ? SETTLED_BY_SECONDS_MS : SETTLED_MS);
}

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

/**
 * What `read` makes of the file at a path, or made of it before if nobody has touched it since: reading takes longer than
 * looking. For files of this machine: over a network a look may tell of the past.
 */
export function recalling<T>(read: (path: string) => T | undefined): (path: string) => T | undefined {
  const kept = new Map<string, { readonly stat: Stats; readonly value: T }>();
  return (path) => {
    const stat = statOf(path);
    const before = kept.get(path);
    if (stat && before && isUntouched(before.stat, stat)) return before.value;
    kept.delete(path);
    const value = read(path);
    if (!stat || value === undefined || stat.size > FILE_MAX_BYTES || !isSettled(stat)) return value;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    kept.set(path, { stat, value });
    return value;
  };
}
