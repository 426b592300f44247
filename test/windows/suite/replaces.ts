// Replaces a file for so many milliseconds, once at least, and reads it back each time as a status is read; tells how that went.
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../../runner-core/errors.ts';
import { recordedState } from '../../../runner-core/store/job-dir.ts';
import { replaceFile } from '../../../runner-core/store/owned-file.ts';

const [path = '', forMs = '0'] = process.argv.slice(2);
const from = performance.now();
const wrong: string[] = [];
let rounds = 0;
let failed: string | null = null;
do {
  try {
    replaceFile(path, 'done\n', { durable: false });
  } catch (error) {
    failed = errnoOf(error) ?? String(error);
    break;
  }
  const state = recordedState(dirname(path));
  if (state !== 'done') wrong.push(state);
  rounds += 1;
} while (performance.now() - from < Number(forMs));
writeSync(1, JSON.stringify({ rounds, wrong, failed, tookMs: Math.round(performance.now() - from) }));
