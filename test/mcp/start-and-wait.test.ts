import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

describe('one call from start to result', () => {
  test('a done job brings its whole result, and says that nothing more is needed', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('printf "the answer" > out.txt', {
      result_path: 'out.txt',
      wait_secs: 30,
    });
    expect(job).toMatchObject({ state: 'done', result_text: 'the answer', result_bytes: 10, exit_code: 0 });
    expect(job.next).toBe('nothing more; result_text is the whole result.');
    await session.close();
  });

  test('a done job without a result file brings what it printed', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('echo one; echo two >&2', { wait_secs: 30 });
    expect(job).toMatchObject({ state: 'done', log_tail: 'one\ntwo' });
    expect(job.next).toContain('nothing more');
    await session.close();
  });

  test('a failed job brings its exit code, its reason and the end of its log', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('seq 1 5000; echo "cannot go on" >&2; exit 7', { wait_secs: 30 });
    expect(job).toMatchObject({ state: 'failed', exit_code: 7, reason: 'worker exited 7' });
    expect(job.log_tail).toMatch(/^\d+\n(\d+\n)+cannot go on$/);
    expect(job.log_tail?.length).toBeLessThan(10_000);
    expect(job.next).toContain(`job_log with job "${job.job_id}"`);
    await session.close();
  });

  test('a job that a window or a cap has ended says which argument to raise', async ({ temp }) => {
    const session = await Session.open(temp);
    const ends: readonly [string, Record<string, unknown>, string][] = [
      ['sleep 60', { idle_secs: 1 }, 'idle_secs'],
      ['while :; do echo; sleep 0.2; done', { hard_secs: 1 }, 'hard_secs'],
      ['seq 1 100000; sleep 60', { log_max_bytes: 1000 }, 'log_max_bytes'],
      ['seq 1 1000 > r.txt', { result_max_bytes: 10, result_path: 'r.txt' }, 'result_max_bytes'],
    ];
    const jobs = await Promise.all(
      ends.map(([script, args]) => session.start(script, { ...args, wait_secs: 40 })),
    );
    for (const [n, [, , argument]] of ends.entries())
      expect(jobs[n]?.next, jobs[n]?.reason).toContain(`larger ${argument}`);
    await session.close();
  });

  test('a job ended by a signal names it', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('kill -KILL $$', { wait_secs: 30 });
    expect(job).toMatchObject({ state: 'died-without-result', signal: 'SIGKILL' });
    await session.close();
  });

  test('a large result is shown from its beginning, with where to go on', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('seq 1 20000 > out.txt', { result_path: 'out.txt', wait_secs: 30 });
    const shown = Buffer.byteLength(job.result_text ?? '');
    expect(shown).toBeGreaterThan(1000);
    expect(shown).toBeLessThan(job.result_bytes ?? 0);
    expect(job.next).toContain(`job_result with job "${job.job_id}" and offset ${shown}`);
    await session.close();
  });

  test('colours and cursor movements are left out of an excerpt', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('printf "\\033[31mred\\033[0m\\n"', { wait_secs: 30 });
    expect(job.log_tail).toBe('red');
    await session.close();
  });
});

describe('waiting', () => {
  test('a fan-out of five is five starts and one wait', async ({ temp }) => {
    const session = await Session.open(temp);
    const started = await Promise.all(
      [1, 2, 3, 4, 5].map((n) =>
        session.start(`sleep 0.${n}; echo ${n} > ${n}.txt`, { label: `n${n}`, result_path: `${n}.txt` }),
      ),
    );
    const { data, text } = await session.call('wait_jobs', {
      jobs: started.map((job) => job.job_id),
      max_secs: 30,
    });
    expect(data.jobs?.map(({ label, state, result_text }) => ({ label, state, result_text }))).toEqual(
      [1, 2, 3, 4, 5].map((n) => ({ label: `n${n}`, state: 'done', result_text: `${n}\n` })),
    );
    expect(data.next).toContain('all settled; nothing more');
    expect(text).toContain('n5');
    await session.close();
  });

  test('a running job tells its last line and how long it has been quiet, and what to call next', async ({
    temp,
  }) => {
    const session = await Session.open(temp);
    const job = await session.start('echo "step 1"; printf "step 2 50%%\\rstep 2 75%%"; sleep 60');
    const { data } = await session.call('wait_jobs', { jobs: [job.job_id], max_secs: 3 });
    const [row] = data.jobs ?? [];
    expect(row).toMatchObject({ state: 'running', last_line: 'step 2 75%' });
    expect(row?.elapsed_secs).toBeGreaterThan(0.5);
    expect(row?.idle_secs).toBeGreaterThan(0.5);
    expect(data).toMatchObject({ all_settled: false });
    expect(data.next).toBe(`1 of 1 still running, which is no error: wait_jobs with jobs ["${job.job_id}"].`);
    await session.call('reap_job', { jobs: [job.job_id] });
    await session.close();
  });

  test('until any returns with the first that settles', async ({ temp }) => {
    const session = await Session.open(temp);
    const slow = await session.start('sleep 60');
    const quick = await session.start('sleep 0.2');
    const rows = await session.wait([slow.job_id, quick.job_id], { until: 'any', max_secs: 30 });
    expect(rows.map((row) => row.state)).toEqual(['running', 'done']);
    await session.call('reap_job', { jobs: [slow.job_id] });
    await session.close();
  });

  test('one unknown id does not hide the others', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('true', { wait_secs: 30 });
    const { data, isError } = await session.call('wait_jobs', {
      jobs: ['20200101T000000Z-00000000', job.job_id],
    });
    expect(isError).toBe(false);
    expect(data.jobs?.map((row) => row.state)).toEqual(['done']);
    expect(data.unknown?.[0]?.problem).toContain('job not found');
    await session.close();
  });

  test('after the aggregate deadline it says what to reap, and a reaped job is timeout', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('sleep 60');
    const { data } = await session.call('wait_jobs', { jobs: [job.job_id], deadline_secs: 1, max_secs: 30 });
    expect(data).toMatchObject({ deadline_passed: true });
    expect(data.next).toContain(`reap_job with jobs ["${job.job_id}"]`);
    const reaped = await session.call('reap_job', { jobs: [job.job_id] });
    expect(reaped.data.jobs?.[0]).toMatchObject({ state: 'timeout' });
    await session.close();
  });

  test('a start with the same key gives the first job', async ({ temp }) => {
    const session = await Session.open(temp);
    const starts = await Promise.all(
      [1, 2, 3].map(() => session.start('true', { key: 'once', wait_secs: 30 })),
    );
    expect(new Set(starts.map((job) => job.job_id)).size).toBe(1);
    expect(starts.map((job) => job.reused).sort()).toEqual([false, true, true]);
    await session.close();
  });

  test('jobs of one server share a run of the skill adhoc', async ({ temp }) => {
    const session = await Session.open(temp);
    const [one, two] = [await session.start('true'), await session.start('true')];
    expect(one.run_id).toBe(two.run_id);
    expect(one.job_dir.startsWith(join(temp.base, 'adhoc'))).toBe(true);
    await session.wait([one.job_id, two.job_id]);
    await session.close();
  });
});

describe('how long a wait may last', () => {
  test('an unknown client waits no longer than the setting allows, whatever it asks for', async ({
    temp,
  }) => {
    const session = await Session.open(temp, { args: ['--max-wait-secs', '1'] });
    const startedMs = performance.now();
    const job = await session.start('sleep 60', { wait_secs: 600 });
    expect(job.state).toBe('running');
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    const [row] = await session.wait([job.job_id]);
    expect(row?.state).toBe('running');
    await session.call('reap_job', { jobs: [job.job_id] });
    await session.close();
  });
});
