// Replaces a file so many times, and reads it back each time as a status is read; tells how that went.
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../../runner-core/errors.ts';
import { recordedState } from '../../../runner-core/store/job-dir.ts';
import { replaceFile } from '../../../runner-core/store/owned-file.ts';

const [path = '', times = '1'] = process.argv.slice(2);
const from = performance.now();
const wrong: string[] = [];
let failed: string | null = null;
for (let round = 0; round < Number(times); round += 1) {
  try {
    replaceFile(path, 'done\n', { durable: false });
  } catch (error) {
    failed = errnoOf(error) ?? String(error);
    break;
  }
  const state = recordedState(dirname(path));
  if (state !== 'done') wrong.push(state);
}
writeSync(1, JSON.stringify({ wrong, failed, tookMs: Math.round(performance.now() - from) }));
