import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openFilesOf } from '../support/proc.ts';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

const JOBS = 50;
const WAITS = 200;

function residentKiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

test('200 waits on 50 jobs at once all answer, share their watchers, and leave nothing open', {
  timeout: 180_000,
}, async ({ temp }) => {
  const session = await Session.open(temp);
  const warmUp = await session.start('true', { wait_secs: 30 });
  await session.wait([warmUp.job_id]);
  const before = openFilesOf(session.pid).size;

  const started: string[] = [];
  for (let n = 0; n < JOBS; n += 1) {
    started.push((await session.start('while [ ! -e go ]; do sleep 0.5; done')).job_id);
  }
  const startedKiB = residentKiB(session.pid);
  const options = { timeout: 150_000 };
  const waits = Array.from({ length: WAITS }, (_, n) => {
    // Some on all of them, some on a few, some on any.
    const jobs = n % 4 === 0 ? started : started.slice(n % 40, (n % 40) + 10);
    return session.call('wait_jobs', { jobs, max_secs: 120, until: n % 2 === 0 ? 'all' : 'any' }, options);
  });
  await session.client.ping();
  const during = openFilesOf(session.pid).size;
  // One inotify descriptor for all watches.
  expect(during - before).toBeLessThan(10);
  temp.file('go', '');
  const answers = await Promise.all(waits);
  for (const { data, isError } of answers) {
    expect(isError).toBe(false);
    expect(data.jobs?.some((row) => row.state === 'done')).toBe(true);
  }
  for (const [n, { data }] of answers.entries()) {
    if (n % 2 === 0) expect(data.jobs?.every((row) => row.state === 'done')).toBe(true);
  }
  await eventually(() => openFilesOf(session.pid).size <= before + 2);
  expect(residentKiB(session.pid) - startedKiB).toBeLessThan(150 * 1024);
  await session.close();
});
