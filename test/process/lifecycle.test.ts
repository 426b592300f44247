import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, atRest, gone, jobNamed, ready, settled, start } from '../support/jobs.ts';
import { readStat } from '../support/proc.ts';
import { engineUnderTest, fixture, sh } from '../support/programs.ts';
import {
  listDirectory,
  modeOf,
  readLog,
  readMeta,
  readOutcome,
  readPids,
  readReason,
} from '../support/read-job.ts';
import { test } from '../support/temp-base.ts';

test('start prints the id alone, and the job goes on to its result', async ({ temp }) => {
  const worker = fixture('writes-result.sh', 'out.txt', 'the result', 0.2);
  const call = await temp.run('ours', [
    ...['start', '--skill', 's', '--run-id', 'r', '--label', 'l', '--result-path', 'out.txt', '--'],
    ...worker,
  ]);
  expect(call.stderr).toBe('');
  expect(call.stdout.toString()).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{8}\n$/);
  const job = jobNamed(temp, call.stdout.toString().trim());
  expect(await ask(temp, 'wait', '--max-secs', '30', job.id)).toBe('0 "done\\n"');
  expect(await ask(temp, 'status', job.id)).toBe('0 "done\\n"');
  expect(await ask(temp, 'status', job.dir)).toBe('0 "done\\n"');
  expect(await ask(temp, 'result', job.id)).toBe('0 "the result"');
});

test('the directory of a settled job holds the records of the contract, private, and nothing else', async ({
  temp,
}) => {
  const job = await start(temp, sh('echo out; echo err >&2'));
  await settled(job);
  const ofTheEngine =
    engineUnderTest === 'slurm' ? ['engine-claim', 'engine.json', 'engine.log', 'heartbeat'] : [];
  const files = [...ofTheEngine, 'meta.json', 'out.log', 'outcome.json', 'pid', 'reason', 'status'];
  await eventually(() => listDirectory(job.dir).length === files.length);
  expect(listDirectory(job.dir)).toEqual(files);
  expect(files.map((name) => modeOf(join(job.dir, name)))).toEqual(files.map(() => '0600'));
  for (const level of ['', 's', 's/r', 's/r/jobs', `s/r/jobs/${job.id}`]) {
    expect(modeOf(join(temp.base, level))).toBe('0700');
  }
  expect(readLog(job.dir)).toBe('out\nerr\n');
});

test('meta.json tells what was asked for, and holds no value of the environment', async ({ temp }) => {
  const flags = ['--label', 'l', '--input-digest', 'd', '--result-path', 'rel/out.txt', '--no-sweep'];
  const job = await start(temp, sh('true'), { flags, env: { SECRET: 'hunter2-from-environment' } });
  const meta = readMeta(job.dir);
  expect(meta).toMatchObject({
    job_id: job.id,
    skill: 's',
    run_id: 'r',
    label: 'l',
    input_digest: 'd',
    worker_argv: ['/bin/sh', '-c', 'true', 'sh'],
    result_path: join(temp.scratch, 'rel/out.txt'),
    sweep_enabled: false,
    cwd: temp.scratch,
  });
  expect(Math.abs(Date.parse(meta.started_at) - Date.now())).toBeLessThan(60_000);
  await atRest(job);
  for (const name of listDirectory(job.dir)) {
    expect(readFileSync(join(job.dir, name), 'utf8')).not.toContain('hunter2-from-environment');
  }
});

test('outcome.json tells exit code, times, sizes and the digest of the result', async ({ temp }) => {
  const job = await start(temp, sh('echo log; printf 0123456789 > out.txt'), {
    flags: ['--result-path', 'out.txt'],
  });
  await settled(job);
  const outcome = readOutcome(job.dir);
  expect(outcome).toMatchObject({
    state: 'done',
    reason: 'worker exited 0',
    exit_code: 0,
    signal: null,
    log_bytes: 4,
    result_bytes: 10,
    result_sha256: createHash('sha256').update('0123456789').digest('hex'),
    classified_by: 'supervisor',
  });
  expect(Date.parse(String(outcome?.ended_at))).toBeGreaterThanOrEqual(
    Date.parse(String(outcome?.started_at)),
  );
});

test('a worker leads its own session, reads nothing from stdin and is told its job', async ({ temp }) => {
  const job = await start(temp, fixture('tells-surroundings.py', 'a b', '$HOME', '*'), {
    env: { FROM_CALLER: 'yes' },
  });
  await settled(job);
  const told = JSON.parse(readLog(job.dir));
  expect(told).toMatchObject({
    arguments: ['a b', '$HOME', '*'],
    cwd: temp.scratch,
    leads_session: true,
    leads_group: true,
    terminal: false,
    descriptors: { 0: '/dev/null', 1: join(job.dir, 'out.log'), 2: join(job.dir, 'out.log') },
    environment: { CE_PEER_JOB_ID: job.id, FROM_CALLER: 'yes' },
  });
  expect(Object.keys(told.descriptors)).toEqual(['0', '1', '2']);
});

test('cwd and environment can be set for one job', async ({ temp }) => {
  const job = await start(temp, sh('echo "$PWD|$ADDED|$(printenv TAKEN || echo unset)"'), {
    flags: ['--cwd', '/usr', '--env', 'ADDED=a=b', '--unset-env', 'TAKEN'],
    env: { TAKEN: 'still there' },
  });
  await settled(job);
  expect(readLog(job.dir)).toBe('/usr|a=b|unset\n');
});

test('wait returns soon after the job has ended, not at its next poll', async ({ temp }) => {
  const job = await start(temp, sh('while [ ! -e go ]; do sleep 0.02; done'), {
    env: { CE_PEER_POLL_SECS: '30' },
  });
  const waiting = ask(temp, 'wait', '--max-secs', '50', job.id);
  temp.file('go', '');
  const before = performance.now();
  expect(await waiting).toBe('0 "done\\n"');
  expect(performance.now() - before).toBeLessThan(25_000);
});

test('wait gives up after its budget, and the job runs on', async ({ temp }) => {
  const job = await start(temp, sh('exec sleep 60'));
  const before = performance.now();
  expect(await ask(temp, 'wait', '--max-secs', '0.3', job.id)).toBe('0 "running\\n"');
  expect(performance.now() - before).toBeGreaterThan(300);
  const { worker_pid } = await eventually(() => readPids(job.dir));
  // It may just be on its way into sleep(1).
  await eventually(() => readStat(worker_pid)?.state === 'S');
  await ask(temp, 'reap', job.id);
});

test('wait --any returns when the first of several has settled', async ({ temp }) => {
  const slow = await start(temp, sh('exec sleep 60'));
  const quick = await start(temp, sh('exit 3'));
  expect(await ask(temp, 'wait', '--any', '--max-secs', '50', slow.id, quick.id)).toBe(
    `0 ${JSON.stringify(`${slow.id}\trunning\n${quick.id}\tfailed\n`)}`,
  );
  await ask(temp, 'reap', slow.id);
});

test('reap ends the worker, and the supervisor that watched it; again it changes nothing', async ({
  temp,
}) => {
  const job = await start(temp, sh('sleep 60 & echo "ready $$ $!"; wait'), {
    flags: ['--result-path', 'out.txt'],
  });
  const pids = await ready(job);
  const { supervisor_pid } = await eventually(() => readPids(job.dir));
  expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
  expect(await ask(temp, 'status', job.id)).toBe('0 "timeout\\n"');
  expect(readReason(job.dir)).toBe('reaped on request before completion');
  await gone([...pids, supervisor_pid]);
  const record = readFileSync(join(job.dir, 'outcome.json'), 'utf8');
  expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
  expect(readFileSync(join(job.dir, 'outcome.json'), 'utf8')).toBe(record);
  expect(await ask(temp, 'result', job.id)).toBe('3 ""');
});

test('a worker that finishes its result during the grace of a reap has timed out all the same', async ({
  temp,
}) => {
  const job = await start(temp, fixture('finishes-on-term.sh', 'out.txt', 'too late'), {
    flags: ['--result-path', 'out.txt'],
    env: { CE_PEER_GRACE_SECS: '10' },
  });
  await ready(job);
  expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
  expect(await settled(job)).toBe('timeout');
  expect(readFileSync(temp.at('out.txt'), 'utf8')).toBe('too late');
});

test('list finds jobs again without their ids, newest first, and can be narrowed', async ({ temp }) => {
  const first = await start(temp, sh('true'), { flags: ['--label', 'one'], run: 'r1' });
  await eventually(
    () => Math.floor(Date.now() / 1000) > Math.floor(Date.parse(readMeta(first.dir).started_at) / 1000),
  );
  const second = await start(temp, sh('exit 4'), { flags: ['--label', 'two'], run: 'r2' });
  await Promise.all([settled(first), settled(second)]);
  const list = async (...flags: string[]) => {
    const run = await temp.run('ours', ['list', '--json', ...flags]);
    return JSON.parse(run.stdout.toString()).map((row: { job_id: string; state: string }) => [
      row.job_id,
      row.state,
    ]);
  };
  expect(await list()).toEqual([
    [second.id, 'failed'],
    [first.id, 'done'],
  ]);
  expect(await list('--label', 'one')).toEqual([[first.id, 'done']]);
  expect(await list('--state', 'failed')).toEqual([[second.id, 'failed']]);
  expect(await list('--run-id', 'r1')).toEqual([[first.id, 'done']]);
  expect(await list('--limit', '1')).toEqual([[second.id, 'failed']]);
  expect(await list('--skill', 'other')).toEqual([]);
});

test('log shows the output while the job runs, and goes on from an offset', async ({ temp }) => {
  const job = await start(
    temp,
    sh('echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; exec sleep 60'),
  );
  await eventually(() => readLog(job.dir) === 'first\n');
  expect(await ask(temp, 'log', job.id)).toBe('0 "first\\n"');
  const page = JSON.parse((await temp.run('ours', ['log', '--json', job.id])).stdout.toString());
  expect(page).toMatchObject({ state: 'running', text: 'first\n', next_offset: 6 });
  temp.file('go', '');
  await eventually(() => readLog(job.dir).includes('second'));
  expect(await ask(temp, 'log', '--offset', String(page.next_offset), job.id)).toBe('0 "second\\n"');
  expect(await ask(temp, 'log', '--max-bytes', '4', job.id)).toBe('0 "ond\\n"');
  await ask(temp, 'reap', job.id);
});

test('result prints the bytes exactly, also those that are no text', async ({ temp }) => {
  const bytes = Buffer.from([0, 255, 10, 13, 0x80, 0xc3, 0x28, 0]);
  writeFileSync(temp.at('bytes'), bytes);
  const job = await start(temp, sh('cp bytes out'), { flags: ['--result-path', 'out'] });
  await settled(job);
  const run = await temp.run('ours', ['result', job.id]);
  expect(run.stdout.equals(bytes)).toBe(true);
});

test('one unknown job does not hide the rows of the others', async ({ temp }) => {
  const job = await start(temp, sh('true'));
  await settled(job);
  const run = await temp.run('ours', ['status', job.id, '20200101T000000Z-00000000', job.id, job.dir]);
  expect(run.stdout.toString()).toBe(`${job.id}\tdone\n`);
  expect(run.stderr).toContain('20200101T000000Z-00000000');
  expect(run.code).toBe(1);
  expect(basename(job.dir)).toBe(job.id);
});

test('a worker inherits every variable of its caller, whatever it is called', async ({ temp }) => {
  const odd = ['constructor', 'toString', 'a.b', 'hasOwnProperty'];
  const env = Object.fromEntries([...odd, '__proto__'].map((name) => [name, `is ${name}`]));
  const job = await start(temp, ['/usr/bin/env'], { env, flags: odd.map((name) => `--env=x${name}=1`) });
  await settled(job);
  const told = readLog(job.dir).split('\n');
  for (const name of [...odd, '__proto__']) expect(told).toContain(`${name}=is ${name}`);
  for (const name of odd) expect(told).toContain(`x${name}=1`);
});
