/** A directory of a test's own, and job directories in it as one runner or the other writes them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as plainTest } from 'vitest';

/** A test with a private, empty directory, gone afterwards. */
export const test = plainTest.extend<{ dir: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest wants a destructured first parameter
  dir: async ({}, use) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'peer-jobs-unit-')));
    try {
      await use(dir);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
});

/** Foreign ownership can only be made by the superuser; anybody else's tests of it are skipped, and say so. */
export const isSuperuser = process.geteuid?.() === 0;
export const FOREIGN_UID = 65_534;
if (!isSuperuser)
  console.log('skipped: tests with files of another user need the superuser to make such files');

export const JOB_ID = '20261130T121741Z-0a1b2c3d';

/** Makes a job directory with these files, and gives its path. */
export function makeJob(
  runFolder: string,
  files: Readonly<Record<string, string | object>> = {},
  jobId: string = JOB_ID,
): string {
  const jobDir = join(runFolder, 'jobs', jobId);
  mkdirSync(jobDir, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(
      join(jobDir, name),
      typeof content === 'string' ? content : `${JSON.stringify(content)}\n`,
      {
        mode: 0o600,
      },
    );
  }
  return jobDir;
}

/** Sets the time stamps of a path to so many hours ago. */
export function age(path: string, hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, at, at);
}
