import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Caller, RunnerError } from '../../index.ts';

/** What the filter of `watch` may say. */
export interface WatchFilter {
  readonly skill?: string | undefined;
  readonly run_id?: string | undefined;
  readonly label?: string | undefined;
  readonly state?: string | undefined;
}

/** The view is a bundle of its own, since its terminal library is larger than everything else together. */
export async function openWatch(filter: WatchFilter, caller: Caller): Promise<void> {
  const path = join(dirname(caller.entry), 'watch.mjs');
  if (!existsSync(path)) {
    throw new RunnerError(
      'preflight',
      `watch needs watch.mjs beside ${caller.entry}; copy it there, or install the whole package. list and wait do without it`,
    );
  }
  // Somebody sits at this terminal, whatever was exported there: in CI the library would only draw the last picture.
  for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name];
  const { runWatch } = await import(pathToFileURL(path).href);
  await runWatch(filter, caller);
}
