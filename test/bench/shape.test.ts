/** Holds what the figures rest on: counts of what is done, which a slow or busy machine does not change. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/proc.ts';
import { type Bundles, keepBundles } from './bundles.ts';
import { flood, PACED, UNPACED } from './flood.ts';
import { pidsOf } from './job-pids.ts';
import { layOldJobs } from './old-jobs.ts';
import { openPlace, type Place } from './place.ts';
import { contextSwitches, pssKib } from './process-cost.ts';
import { Session } from './session.ts';

const IDLE_WATCH_MS = 5_000;

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'the costs are read from /proc';
  try {
    execFileSync('strace', ['-o', '/dev/null', '/bin/true']);
    return undefined;
  } catch {
    return 'no strace, or no leave to trace';
  }
}
const missing = whyNot();
if (missing !== undefined) console.log(`skipped: ${missing}`);

describe.skipIf(missing !== undefined)('what a job costs', () => {
  let place: Place;
  let bundles: Bundles;
  let session: Session;

  beforeAll(async () => {
    place = openPlace();
    bundles = keepBundles();
    session = await Session.open(bundles.server, { env: place.env, cwd: place.dir });
  });

  afterAll(async () => {
    const { jobs = [] } = await session.call('list_jobs', { state: 'running', limit: 1000 });
    if (jobs.length > 0) await session.call('reap_job', { jobs: jobs.map((job) => job.job_id) });
    await session.close();
    bundles.remove();
    place.remove();
  });

  /** The system calls of the server, one a line, while `act` runs. */
  async function traced(act: () => Promise<unknown>): Promise<string[]> {
    const file = join(place.dir, 'trace');
    const { spawn } = await import('node:child_process');
    const tracer = spawn('strace', ['-qq', '-o', file, '-p', String(session.serverPid)], { stdio: 'ignore' });
    const ended = new Promise((resolve) => tracer.once('exit', resolve));
    await eventually(() =>
      readFileSync(`/proc/${session.serverPid}/status`, 'utf8').includes(`TracerPid:\t${tracer.pid}`),
    );
    await act();
    tracer.kill('SIGINT');
    await ended;
    return readFileSync(file, 'utf8').split('\n');
  }

  const filesTouched = (lines: readonly string[]): number =>
    lines.filter((line) => /^(openat|statx|newfstatat|lstat|stat|readlink|access)\(/.test(line)).length;

  test('a question about a job touches as many files beside 2,000 old jobs as beside none', async () => {
    const { job_id } = await session.call('start_job', { argv: ['sleep', '600'] });
    const ask = () => session.call('job_status', { jobs: [job_id] });
    await ask();
    const before = filesTouched(await traced(ask));
    layOldJobs(place.base, 2_000, 2);
    await ask();
    const after = filesTouched(await traced(ask));
    expect(before).toBeGreaterThan(5);
    expect(before).toBeLessThan(28);
    expect(after).toBeLessThanOrEqual(before + 5);
  });

  test('a supervisor asleep is hardly ever woken, and small', async () => {
    const { job_dir = '' } = await session.call('start_job', { argv: ['sleep', '600'] });
    const { supervisor } = pidsOf(job_dir);
    // What the start itself set going comes to rest.
    await eventually(async () => {
      const before = contextSwitches(supervisor);
      await new Promise((resolve) => setTimeout(resolve, IDLE_WATCH_MS));
      return contextSwitches(supervisor) - before <= IDLE_WATCH_MS / 1000;
    }, 90_000);
    // Alone it shares little; beside others it takes a third less.
    expect(pssKib(supervisor) / 1024).toBeLessThan(24);
  });

  test('a supervisor is run from the lean program', async () => {
    const { job_dir = '' } = await session.call('start_job', { argv: ['sleep', '600'] });
    const command = readFileSync(`/proc/${pidsOf(job_dir).supervisor}/cmdline`, 'utf8').split('\0')[1] ?? '';
    expect(command).toMatch(/\/supervisor-[\d.]+\.cjs$/);
    expect(existsSync(command)).toBe(true);
  });

  test('a flood overshoots the cap by little, is cut back to it, and costs its supervisor a tenth at most', async () => {
    const short = await flood(session, PACED, 10 * 2 ** 20);
    expect(short.keptBytes).toBe(10 * 2 ** 20);
    // 64 on a machine that has a processor free for the look; half a second of the flood on one that has not.
    expect(short.overshootMib).toBeLessThan(512);
    const long = await flood(session, UNPACED, 2 ** 30);
    expect(long.supervisorCpuMs).toBeLessThan(long.workerCpuMs / 5);
  });

  test('twenty jobs started at once all run, are all listed, and are all reaped', async () => {
    const started = await Promise.all(
      Array.from({ length: 20 }, () => session.call('start_job', { argv: ['sleep', '600'], label: 'crowd' })),
    );
    const pids = started.flatMap(({ job_dir = '' }) => Object.values(pidsOf(job_dir)));
    expect(pids.filter(isAlive)).toHaveLength(40);
    const listed = await session.call('list_jobs', { label: 'crowd', state: 'running', limit: 100 });
    expect(listed.jobs).toHaveLength(20);
    const reaped = await session.call('reap_job', { jobs: started.map(({ job_id }) => job_id) });
    expect(new Set(reaped.jobs?.map(({ state }) => state))).toEqual(new Set(['timeout']));
    await eventually(() => !pids.some(isAlive));
  });
});
