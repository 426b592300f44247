import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Caller, type JobFilter, RunnerError } from '../../index.ts';

/** The view is a bundle of its own, since its terminal library is larger than everything else together. */
export async function openWatch(filter: JobFilter, caller: Caller): Promise<void> {
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
