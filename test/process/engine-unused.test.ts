import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { repoRoot } from '../support/programs.ts';
import { test } from '../support/temp-base.ts';

/** What only the modules that know Slurm have in them, beyond their functions. */
const SLURM_ONLY = ['KRB5CCNAME', 'NODE_FAIL', 'Zero Bytes'];

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

/** Which of the texts lie in code that was run, by V8's own count (nodejs.org/api/cli.html, NODE_V8_COVERAGE). */
function evaluated(folder: string): string[] {
  const whole = readFileSync(join(repoRoot, 'dist/peer-jobs.mjs'), 'latin1');
  // V8 counts what the file itself runs: start, status and wait. The rest is attached as text.
  const source = whole.slice(0, whole.search(/^\/\*runner-core\//m));
  const ran = new Set<string>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
    for (const { functions } of result.filter(({ url }) => url.endsWith('/dist/peer-jobs.mjs'))) {
      const ranges = functions.flatMap((one) => one.ranges);
      for (const text of SLURM_ONLY) {
        const at = source.indexOf(text);
        expect(at, `${text} is in the program`).toBeGreaterThan(0);
        const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
        const inner = around.sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0];
        if ((inner?.count ?? 0) > 0) ran.add(text);
      }
    }
  }
  return [...ran].sort();
}

test('a job of this machine needs nothing of what knows other engines', async ({ temp }) => {
  const local = temp.at('local');
  const traced = { extra: { NODE_V8_COVERAGE: local, PATH: `${temp.scratch}:${process.env.PATH}` } };
  for (const program of ['sbatch', 'squeue', 'scancel', 'scontrol', 'sinfo', 'sacct'])
    temp.file(program, `#!/bin/sh\necho ${program} >>${temp.at('called')}\nexit 1\n`, 0o755);
  const words = ['start', '--skill', 's', '--run-id', 'r'];
  const started = await temp.run('ours', [...words, '--', '/bin/sh', '-c', 'sleep 0.2'], traced);
  expect(started).toMatchObject({ code: 0, stderr: '' });
  const id = started.stdout.toString().trim();
  for (const command of ['status', 'wait', 'reap', 'list', 'log'])
    await temp.run('ours', command === 'list' ? [command] : [command, id], traced);
  expect(readdirSync(local).length).toBeGreaterThan(0);
  expect(evaluated(local)).toEqual([]);
  expect(readdirSync(temp.scratch)).not.toContain('called');

  // The same look, at a start that does need it, sees it.
  const other = temp.at('other');
  const refused = await temp.run('ours', [...words, '--', '/bin/true'], {
    extra: { ...traced.extra, PEER_JOBS_ENGINE: 'slurm', NODE_V8_COVERAGE: other },
  });
  expect(refused).toMatchObject({ code: 1 });
  expect(evaluated(other)).toEqual(SLURM_ONLY);
});
