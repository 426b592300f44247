import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { win32 } from '../../../runner-core/platform/win32-api.ts';
import { spawnWorker } from '../../../runner-core/platform/win32-worker.ts';
import { fixture, gone, isAlive, js, lives, pidsOf, ready, reasonOf, recordPath, settled } from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { APP, runNode, type TempBase } from './temp-base.ts';

/** The command, and a fixture in place of the program that supervises, which is then `real.cjs`. */
function homeWith(stand: string): string {
  // Below the bundles, where koffi is found.
  const home = mkdtempSync(join(APP, 'home-'));
  const supervisor = readdirSync(APP).find((name) => name.startsWith('supervisor-')) ?? '';
  cpSync(join(APP, 'peer-jobs.mjs'), join(home, 'peer-jobs.mjs'));
  cpSync(join(APP, supervisor), join(home, 'real.cjs'));
  cpSync(join(APP, 'fixtures', stand), join(home, supervisor));
  return home;
}

scenario(
  'a supervisor that never acknowledges is ended with its worker, and the start says so',
  async (temp) => {
    const home = homeWith('never-acknowledges.cjs');
    const starting = runNode(
      [join(home, 'peer-jobs.mjs'), 'start', '--skill', 's', '--run-id', 'r', '--', ...fixture('family.cjs')],
      temp.env,
      temp.scratch,
    );
    const id = await eventually(() => readdirSync(join(temp.base, 's/r/jobs'))[0]);
    const job = temp.job(id);
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    const { code, stdout, stderr } = await starting;
    deepEqual([code, stdout.length], [1, 0]);
    match(stderr, /detach failed for job .*did not acknowledge; nothing runs/);
    deepEqual([supervisor_pid, ...members].map(isAlive), [false, false, false, false]);
    deepEqual(
      [await settled(job), reasonOf(job)],
      ['failed', 'the supervisor did not acknowledge the start'],
    );
    rmSync(home, { recursive: true, force: true });
  },
);

scenario('a supervisor that nobody told of, and that is late, is given no worker to start', async (temp) => {
  const home = homeWith('relay-dies-untold.cjs');
  const worker = js("fs.appendFileSync('ran','x')");
  const { code, stderr } = await runNode(
    [join(home, 'peer-jobs.mjs'), 'start', '--skill', 's', '--run-id', 'r', '--', ...worker],
    temp.env,
    temp.scratch,
  );
  equal(code, 1);
  match(stderr, /did not acknowledge; nothing runs/);
  const late = readdirSync(home)
    .filter((name) => name.startsWith('pid-'))
    .map((name) => Number(name.slice(4)));
  ok(late.length > 0);
  for (const pid of late) temp.watch(pid);
  writeFileSync(join(home, 'go'), '');
  await gone(late);
  const id = /job (\d{8}T\d{6}Z-\w+)/.exec(stderr)?.[1] ?? '';
  equal(await temp.ask('status', id), '0 "never-started\\n"');
  equal(existsSync(temp.at('ran')), false);
  rmSync(home, { recursive: true, force: true });
});

scenario('a worker takes no step before it is in its job object', async (temp) => {
  const api = win32();
  const { AssignProcessToJobObject, ResumeThread } = api;
  const steps: string[] = [];
  const logFd = openSync(temp.at('log'), 'a');
  // Nothing can come between: the start of a worker does not wait.
  api.AssignProcessToJobObject = (job, process) => {
    const done = AssignProcessToJobObject(job, process);
    steps.push(`assigned ${done !== 0}`);
    return done;
  };
  api.ResumeThread = (thread) => {
    // How often it was suspended before this call.
    const before = ResumeThread(thread);
    steps.push(`resumed from ${before}`);
    return before;
  };
  const env = Object.fromEntries(
    Object.entries(temp.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const starting = spawnWorker({ argv: js(''), cwd: temp.scratch, env, logFd, jobId: `test-${process.pid}` });
  Object.assign(api, { AssignProcessToJobObject, ResumeThread });
  deepEqual(steps, ['assigned true', 'resumed from 1']);
  const { ended, jobName } = await starting;
  equal(jobName, `Local\\ce-peer-job-test-${process.pid}`);
  deepEqual(await ended, { kind: 'exited', code: 0 });
  closeSync(logFd);
});

/** What a supervisor falls back to where there are no events; win32.ts. */
const MARKER_POLL_MS = 5000;

/** How long it took until a supervisor noticed a marker that came just after its look from time to time. */
async function noticedAfterMs(temp: TempBase): Promise<number> {
  const job = await temp.start(lives);
  await ready(job);
  const sinceMs = (): number => Date.now() - statSync(recordPath(job)).mtimeMs;
  const next = (Math.floor(sinceMs() / MARKER_POLL_MS) + 1) * MARKER_POLL_MS;
  await eventually(() => sinceMs() > next + 1000);
  const marker = join(job.dir, '.reap');
  writeFileSync(marker, 'reap\n');
  const from = performance.now();
  await eventually(() => !existsSync(marker));
  const tookMs = performance.now() - from;
  equal(await settled(job), 'timeout');
  equal(reasonOf(job), 'reaped on request before completion');
  return tookMs;
}

scenario('a reap by marker, as the reference asks for it, is noticed at once', async (temp) => {
  // On a machine under load once may be late by chance; by looks from time to time it would always be.
  const took: number[] = [];
  while (took.length < 3 && took.every((ms) => ms > MARKER_POLL_MS / 2))
    took.push(await noticedAfterMs(temp));
  ok(Math.min(...took) < MARKER_POLL_MS / 2, `after ${took.join(', ')} ms`);
});

const GENERIC_WRITE = 0x4000_0000;
const SHARE_READ_WRITE = 0x3;
const CREATE_NEW = 1;

scenario('a marker that cannot be removed is a request to reap like any other', async (temp) => {
  const [kept, folder] = [await temp.start(lives), await temp.start(lives)];
  for (const job of [kept, folder]) await ready(job);
  // As most programs open a file: as long as they have it, it cannot be removed.
  const marker = join(kept.dir, '.reap');
  const handle = win32().CreateFileW(marker, GENERIC_WRITE, SHARE_READ_WRITE, null, CREATE_NEW, 0, 0);
  mkdirSync(join(folder.dir, '.reap'));
  for (const job of [kept, folder]) {
    equal(await settled(job), 'timeout');
    equal(reasonOf(job), 'reaped on request before completion');
  }
  win32().CloseHandle(handle);
});
