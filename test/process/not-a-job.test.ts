/** What looks like a job, or like a run of jobs, and is none: nobody's files go with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, atRest, kill, pidsOf, ready, settled, start } from '../support/jobs.ts';
import { isAlive, openFilesOf } from '../support/proc.ts';
import { commandOf, sh } from '../support/programs.ts';
import { listDirectory, readStatus } from '../support/read-job.ts';
import { runProgram } from '../support/run-cli.ts';
import { test } from '../support/temp-base.ts';

const ours = commandOf('ours');
const bundle = ours[1] ?? '';

function age(path: string, hours: number): void {
  const at = Date.now() / 1000 - hours * 3600;
  utimesSync(path, at, at);
}

describe('remove', () => {
  test('leaves a directory that only has a job’s name, and one that only has a record', async ({ temp }) => {
    for (const name of ['p/20260101T000000Z-deadbeef', 'jobs/20260101T000000Z-deadbeef', 'p/project']) {
      const path = temp.at(name);
      mkdirSync(join(path, 'data'), { recursive: true });
      writeFileSync(join(path, 'meta.json'), '{"job_id":"x"}');
      writeFileSync(join(path, 'status'), 'done\n');
      expect((await temp.run('ours', ['remove', path])).code).toBe(1);
      expect(listDirectory(path)).toContain('data');
    }
  });

  test('leaves a running job whose pid record is gone', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
    const [worker] = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(join(job.dir, 'pid'));
    for (const name of listDirectory(job.dir)) age(join(job.dir, name), 1);
    expect((await temp.run('ours', ['remove', job.id])).code).toBe(1);
    expect([worker, supervisor_pid].map(isAlive)).toEqual([true, true]);
    await ask(temp, 'reap', job.id);
    expect(readStatus(job.dir)).toBe('timeout');
  });
});

test('prune and list pass over what lies among the jobs and is none', async ({ temp }) => {
  const job = await start(temp, sh('true'));
  await settled(job);
  const notes = join(dirname(job.dir), 'notes');
  mkdirSync(notes);
  writeFileSync(join(notes, 'todo'), 'mine');
  age(join(notes, 'todo'), 24 * 30);
  expect((await temp.run('ours', ['prune', '--older-than', '1h'])).stdout.toString()).not.toContain('notes');
  expect((await temp.run('ours', ['list'])).stdout.toString()).not.toContain('notes');
  expect(existsSync(join(notes, 'todo'))).toBe(true);
});

test('list shows no job that is removed while it looks', async ({ temp }) => {
  const job = await start(temp, sh('true'));
  await atRest(job);
  const meta = readFileSync(join(job.dir, 'meta.json'), 'utf8');
  for (let number = 0; number < 800; number += 1) {
    const id = `20260101T000000Z-${number.toString(16).padStart(8, '0')}`;
    const dir = join(dirname(job.dir), id);
    cpSync(job.dir, dir, { recursive: true });
    writeFileSync(join(dir, 'meta.json'), meta.replaceAll(job.id, id));
  }
  const pruning = temp.run('ours', ['prune', '--older-than', '0s'], { timeoutMs: 120_000 });
  let over = false;
  void pruning.finally(() => {
    over = true;
  });
  const shown: string[] = [];
  while (!over) {
    const listed = await temp.run('ours', ['list', '--limit', '1000', '--state', 'unreadable', '--json']);
    shown.push(...JSON.parse(listed.stdout.toString()).map((row: { job_id: string }) => row.job_id));
  }
  expect((await pruning).stdout.toString()).toContain('removed 801 jobs');
  expect(shown).toEqual([]);
});

test('a sweep below CE_WORK_RUNS_ROOT leaves folders without jobs', async ({ temp }) => {
  const runs = temp.at('runs');
  mkdirSync(join(runs, 'old/jobs'), { recursive: true, mode: 0o700 });
  mkdirSync(join(runs, 'other'), { mode: 0o700 });
  for (const name of ['old', 'other']) age(join(runs, name), 100);
  const extra = { CE_WORK_RUNS_ROOT: runs };
  // A start on a slow machine leaves to the next one what it has no time for.
  await eventually(async () => {
    await temp.run('ours', ['start', '--skill', 'ce-work', '--run-id', 'r', '--', 'true'], { extra });
    return !listDirectory(runs).includes('old');
  });
  expect(listDirectory(runs)).toEqual(['other', 'r']);
});

describe('the command line', () => {
  test('fails where its answer cannot be written', async ({ temp }) => {
    const job = await start(temp, sh('echo x > out'), { flags: ['--result-path', 'out'] });
    await settled(job);
    const full = await runProgram(['/bin/sh', '-c', '"$@" > /dev/full', 'sh', ...ours, 'result', job.id], {
      env: temp.env,
    });
    expect(full).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot write the answer: ENOSPC'),
    });
  });

  test('says in one line that mcp needs the server beside it', async ({ temp }) => {
    const alone = temp.at('peer-jobs.mjs');
    copyFileSync(bundle, alone);
    const { code, stderr } = await runProgram([process.execPath, alone, 'mcp'], { env: temp.env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^peer-jobs: mcp needs .*server\.mjs; copy it there.*\n$/),
    ]);
  });

  test('answers from a folder that was removed', async ({ temp }) => {
    const job = await start(temp, sh('true'));
    await settled(job);
    const inRemoved = (...args: string[]) =>
      runProgram(
        [
          '/bin/sh',
          '-c',
          'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"',
          temp.at('gone'),
          ...ours,
          ...args,
        ],
        { env: temp.env },
      );
    expect((await inRemoved('status', job.id)).stdout.toString()).toBe('done\n');
    const { code, stderr } = await inRemoved('start', '--skill', 's', '--run-id', 'r', '--', 'true');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^peer-jobs: .*cannot be entered.*\n$/)]);
  });

  test('refuses a start that is too long to be recorded, and leaves nothing of it', async ({ temp }) => {
    const long = Array.from({ length: 8 }, () => '\u0001'.repeat(120_000));
    const { code, stderr } = await temp.run('ours', [
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--',
      'true',
      ...long,
    ]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/too long to be recorded.*\n$/)]);
    expect(listDirectory(join(temp.base, 's/r/jobs'))).toEqual([]);
  });
});

test('SIGUSR1 opens no debugger in a supervisor', async ({ temp }) => {
  const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
  await ready(job);
  const { supervisor_pid } = pidsOf(job);
  // The inspector would listen: a socket that no supervisor has otherwise.
  const listens = (pid: number): boolean =>
    [...openFilesOf(pid).values()].some((file) => file.startsWith('socket:'));
  // One that listens to no signal, to know how long the inspector takes; both may not have the same port.
  const script = 'console.log(1); setInterval(() => 0, 1000)';
  const other = spawn(process.execPath, ['--inspect-port=0', '-e', script], { env: temp.env, stdio: 'pipe' });
  const otherPid = other.pid ?? expect.fail('no other');
  temp.ledger.register(otherPid, 'one that opens a debugger');
  await once(other.stdout, 'data');
  // Its debugger takes whatever port is free, and leaves the usual one alone.
  process.kill(supervisor_pid, 'SIGUSR1');
  process.kill(otherPid, 'SIGUSR1');
  await eventually(() => listens(otherPid));
  await ask(temp, 'status', job.id);
  expect(listens(supervisor_pid)).toBe(false);
  await kill(otherPid);
  await ask(temp, 'reap', job.id);
});
