/** What somebody sees who has just cloned it: too old a node, or nothing installed yet. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { test } from '../support/temp-base.ts';

test.for(['peer-jobs.mjs', 'server.mjs'])(
  '%s says so where node is too old for it',
  async (name, { temp }) => {
    const older = temp.file(
      'older.cjs',
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });",
    );
    const { code, stdout, stderr } = await runProgram([
      process.execPath,
      '--require',
      older,
      join(repoRoot, 'dist', name),
      '--version',
    ]);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`peer-jobs needs Node 20 or newer; this is 18.20.8 (${process.execPath})\n`);
  },
);

test('a build before npm ci says what is missing, in one line', async ({ temp }) => {
  mkdirSync(temp.at('scripts'));
  for (const file of ['package.json', 'scripts/build.mjs']) copyFileSync(join(repoRoot, file), temp.at(file));
  const { code, stderr } = await runProgram([process.execPath, temp.at('scripts/build.mjs')], {
    cwd: temp.scratch,
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'build: what it needs is not installed; run npm ci first\n',
  });
});
