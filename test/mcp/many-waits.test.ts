import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openFilesOf } from '../support/proc.ts';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

const JOBS = 50;
const WAITS = 200;

/** Watches of the file system that a process holds. https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html */
function watchesOf(pid: number): number {
  const folder = `/proc/${pid}/fdinfo`;
  return readdirSync(folder)
    .map((fd) => readFileSync(`${folder}/${fd}`, 'utf8').match(/^inotify wd:/gm)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0);
}

function residentKiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

test('200 waits on 50 jobs at once all answer, share their watchers, and leave nothing open', {
  timeout: 300_000,
}, async ({ temp }) => {
  const session = await Session.open(temp);
  const warmUp = await session.start('true', { wait_secs: 30 });
  await session.wait([warmUp.job_id]);
  const before = openFilesOf(session.pid).size;
  const watchesBefore = watchesOf(session.pid);

  const started: string[] = [];
  for (let n = 0; n < JOBS; n += 1) {
    started.push((await session.start('while [ ! -e go ]; do sleep 0.5; done')).job_id);
  }
  const waitForAll = (max_secs: number) =>
    Array.from({ length: WAITS }, (_, n) => {
      // Some on all of them, some on a few, some on any.
      const jobs = n % 4 === 0 ? started : started.slice(n % 40, (n % 40) + 10);
      const until = n % 2 === 0 ? 'all' : 'any';
      return session.call('wait_jobs', { jobs, max_secs, until }, { timeout: 150_000 });
    });

  // Waits that run out: after the first rounds have found the heap its size, more of them take nothing.
  const residents: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const answers = await Promise.all(waitForAll(1));
    expect(answers.every(({ data }) => data.jobs?.every((row) => row.state === 'running'))).toBe(true);
    residents.push(residentKiB(session.pid));
  }
  const [, , settled = 0] = residents;
  expect(Math.min(...residents.slice(3)) - settled, residents.join(' ')).toBeLessThan(16 * 1024);

  const waits = waitForAll(120);
  await session.client.ping();
  await eventually(() => watchesOf(session.pid) > watchesBefore);
  const during = openFilesOf(session.pid).size;
  // One inotify descriptor for all watches.
  expect(during - before).toBeLessThan(10);
  temp.file('go', '');
  const answers = await Promise.all(waits);
  for (const [n, { data, isError }] of answers.entries()) {
    expect(isError).toBe(false);
    const states = data.jobs?.map((row) => row.state) ?? [];
    expect(n % 2 === 0 ? states.every((state) => state === 'done') : states.includes('done')).toBe(true);
  }
  await eventually(() => openFilesOf(session.pid).size <= before + 2);
  await eventually(() => watchesOf(session.pid) <= watchesBefore);
  await session.close();
});
