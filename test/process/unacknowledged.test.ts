import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { jobNamed, jobsBelow, ready } from '../support/jobs.ts';
import { isAlive } from '../support/proc.ts';
import { commandOf, repoRoot, sh } from '../support/programs.ts';
import { readPids, readReason, readStatus } from '../support/read-job.ts';
import { runProgram } from '../support/run-cli.ts';
import { test } from '../support/temp-base.ts';

/** Longer than a start waits for its supervisor. */
const BUDGET_MS = 90_000;

test('a supervisor that never acknowledges is ended with its worker, and the start says so', {
  timeout: 2 * BUDGET_MS,
}, async ({ temp }) => {
  const home = temp.at('home');
  mkdirSync(home);
  const supervisor = readdirSync(join(repoRoot, 'dist')).find((name) => name.startsWith('supervisor-')) ?? '';
  copyFileSync(join(repoRoot, 'dist/peer-jobs.mjs'), join(home, 'peer-jobs.mjs'));
  copyFileSync(join(repoRoot, 'dist', supervisor), join(home, 'real.cjs'));
  copyFileSync(join(repoRoot, 'test/fixtures/never-acknowledges.cjs'), join(home, supervisor));
  const worker = sh('sleep 300 & echo "ready $$ $!"; wait');
  const starting = runProgram(
    [
      commandOf('ours')[0],
      join(home, 'peer-jobs.mjs'),
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--',
      ...worker,
    ],
    { env: temp.env, cwd: temp.scratch, timeoutMs: BUDGET_MS },
  );
  const id = await eventually(() => jobsBelow(temp.base)[0]?.id, BUDGET_MS);
  const job = jobNamed(temp, id);
  const members = await ready(job);
  // Its worker may be faster than the record of it.
  const { supervisor_pid } = await eventually(() => readPids(job.dir));
  const { code, stdout, stderr } = await starting;
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/detach failed for job .*did not acknowledge; nothing runs/);
  expect([supervisor_pid, ...members].map(isAlive)).toEqual([false, false, false]);
  expect([readStatus(job.dir), readReason(job.dir)]).toEqual([
    'failed',
    'the supervisor did not acknowledge the start',
  ]);
});
