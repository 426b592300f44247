import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { settled, start } from '../support/jobs.ts';
import { commandOf, repoRoot, sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, readLog, readStatus } from '../support/read-job.ts';
import { cleanEnv, runProgram } from '../support/run-cli.ts';
import { test } from '../support/temp-base.ts';

test('30 jobs started by 10 callers at once: 30 ids, 30 true outcomes, no survivor, no stray file', async ({
  temp,
}) => {
  const endings = [
    { script: 'echo $0; printf $0 > result-$0', state: 'done' },
    { script: 'echo $0; exit 3', state: 'failed' },
    { script: 'echo $0; kill -9 $$', state: 'died-without-result' },
  ];
  const callers = Array.from({ length: 10 }, async (_, caller) => {
    const jobs = [];
    for (const [turn, { script, state }] of endings.entries()) {
      const name = `${caller}-${turn}`;
      const worker = ['/bin/sh', '-c', script, name] as const;
      const job = await start(temp, worker, { flags: ['--result-path', `result-${name}`] });
      jobs.push({ ...job, name, state });
    }
    return jobs;
  });
  const jobs = (await Promise.all(callers)).flat();
  expect(new Set(jobs.map((job) => job.id)).size).toBe(30);
  expect(jobDirsBelow(temp.root).length).toBe(30);
  for (const job of jobs) {
    expect(`${job.name} ${await settled(job)}`).toBe(`${job.name} ${job.state}`);
    expect(readLog(job.dir)).toBe(`${job.name}\n`);
  }
  const files = ['meta.json', 'out.log', 'outcome.json', 'pid', 'reason', 'status'];
  await eventually(() => jobs.every((job) => listDirectory(job.dir).length === files.length));
  for (const job of jobs) expect(listDirectory(job.dir)).toEqual(files);
  expect(listDirectory(join(temp.base, 's'))).toEqual(['r']);
  expect(listDirectory(join(temp.base, 's/r'))).toEqual(['jobs']);
  await eventually(() => temp.ledger.living().length === 0);
});

test('the bundle alone in an empty folder runs the whole lifecycle', async ({ temp }) => {
  const home = join(temp.root, 'alone');
  mkdirSync(home);
  copyFileSync(join(repoRoot, 'dist/peer-jobs.mjs'), join(home, 'peer-jobs.mjs'));
  const cli = async (...args: string[]): Promise<string> => {
    const env = cleanEnv({ CE_PEER_JOBS_ROOT: temp.base });
    const run = await runProgram([commandOf('ours')[0], join(home, 'peer-jobs.mjs'), ...args], {
      env,
      cwd: home,
    });
    expect(run.stderr).toBe('');
    return run.stdout.toString();
  };
  const name = ['--skill', 's', '--run-id', 'r'];
  const id = (
    await cli('start', ...name, '--result-path', 'out', '--', ...sh('echo hi; echo result > out'))
  ).trim();
  expect(await cli('wait', '--max-secs', '30', id)).toBe('done\n');
  expect(await cli('result', id)).toBe('result\n');
  expect(await cli('log', id)).toBe('hi\n');
  expect(await cli('list')).toContain(id);
  const second = (await cli('start', ...name, '--', 'sleep', '60')).trim();
  expect(await cli('status', second)).toBe('running\n');
  expect(await cli('reap', second)).toBe('');
  expect(await cli('status', second)).toBe('timeout\n');
  expect(listDirectory(home)).toEqual(['out', 'peer-jobs.mjs']);
  expect(
    jobDirsBelow(temp.root)
      .map((dir) => readStatus(dir))
      .sort(),
  ).toEqual(['done', 'timeout']);
});
