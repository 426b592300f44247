import { join } from 'node:path';
import { expect } from 'vitest';
import { describeFully } from '../../../runner-core/operations/report.ts';
import { nextForJob } from '../../../server/next-step.ts';
import { makeJob, test } from '../store/directory.ts';

test('of a job whose directory was removed meanwhile nobody says that it never ran', () => {
  const jobDir = '/nowhere/s/r/jobs/20261130T121741Z-0a1b2c3d';
  const [row] = describeFully([{ ref: 'j', jobDir, state: 'never-started' }], {});
  expect(row?.reason).toMatch(/^its directory is gone, .* it may still run$/);
  expect(row && nextForJob(row)).toMatch(/make sure that it runs no longer before you start it again/);
});

test('a length that no number of milliseconds tells is told as none', ({ dir }) => {
  const outcome = { state: 'done', reason: '', wall_secs: 1e308 };
  const jobDir = makeJob(join(dir, 'r'), { status: 'done', 'outcome.json': outcome });
  const [row] = describeFully([{ ref: 'j', jobDir, state: 'done' }], {});
  expect(row?.elapsed_secs).toBeNull();
});
