import { expect, test } from 'vitest';
import { describeFully } from '../../../runner-core/operations/report.ts';
import { nextForJob } from '../../../server/next-step.ts';

test('of a job whose directory was removed meanwhile nobody says that it never ran', () => {
  const jobDir = '/nowhere/s/r/jobs/20261130T121741Z-0a1b2c3d';
  const [row] = describeFully([{ ref: 'j', jobDir, state: 'never-started' }], {});
  expect(row?.reason).toMatch(/^its directory is gone, .* it may still run$/);
  expect(row && nextForJob(row)).toMatch(/make sure that it runs no longer before you start it again/);
});
