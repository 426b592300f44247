/**
 * Runs the Windows suite once, inside Windows' own Node under Wine, and tells of each of its tests as one here.
 * Where Wine is neither there nor to be had, one skipped test says so.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { repoRoot } from '../support/programs.ts';

const resultsSchema = z.object({
  skipped: z.string().optional(),
  tests: z.array(
    z.object({
      name: z.string(),
      outcome: z.enum(['passed', 'failed', 'skipped']),
      ms: z.number(),
      detail: z.string(),
    }),
  ),
});
type Results = z.output<typeof resultsSchema>;

async function runSuite(): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'peer-jobs-windows-results-'));
  const file = join(folder, 'results.json');
  try {
    const child = spawn(process.execPath, [join(repoRoot, 'scripts/test-windows.mjs'), '--results', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', resolve);
    });
    return resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { skipped, tests } = await runSuite();

if (skipped !== undefined) {
  console.warn(`\n!!! The Windows suite was NOT run: ${skipped}. !!!\n`);
  test('the Windows suite', ({ skip }) => skip(skipped));
}
for (const { name, outcome, detail } of tests) {
  test(name, ({ skip }) => {
    if (outcome === 'skipped') skip(detail);
    else expect(outcome, detail).toBe('passed');
  });
}
