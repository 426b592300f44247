/** What lies at a path that may be no path that can be: then nothing does. */
import { realpathSync, type Stats } from 'node:fs';
import { lstatIfAny } from './owned-file.ts';

/** Of what lies there itself; links are not followed. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatIfAny(path);
  } catch {
    // ELOOP, EACCES, ENAMETOOLONG, a NUL in it: nothing that we could reach.
    return undefined;
  }
}

/** As the system itself calls it: where links, case or short names make no difference, they make none here. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // As above.
    return undefined;
  }
}
