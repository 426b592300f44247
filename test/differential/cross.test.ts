import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { identityOf, isAlive, isAliveAs } from '../support/proc.ts';
import { type Argv, commandOf, fixture, type SideName, sh } from '../support/programs.ts';
import { jobDirsBelow, readLog, readPids, readReady, readReason, readStatus } from '../support/read-job.ts';
import type { CliRun } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { sayIfSkipped, unavailable } from './compare.ts';

// A job that one side started is the other's as much: both read and write the same directory.

const BRISK = { CE_PEER_POLL_SECS: '0.1', CE_PEER_GRACE_SECS: '1' };

interface Job {
  readonly id: string;
  readonly dir: string;
}

async function start(
  temp: TempBase,
  side: SideName,
  worker: Argv,
  flags: readonly string[] = [],
  env = {},
): Promise<Job> {
  const run = await temp.run(side, ['start', '--skill', 's', '--run-id', 'r', ...flags, '--', ...worker], {
    extra: { ...BRISK, ...env },
  });
  expect(run.stderr).toBe('');
  const id = run.stdout.toString('utf8').trim();
  const dir =
    jobDirsBelow(temp.root).find((path) => basename(path) === id) ?? expect.fail(`no directory of ${id}`);
  temp.ledger.registerJob(dir);
  return { id, dir };
}

const ready = (job: Job) => eventually(() => readReady(job.dir));
const settled = (job: Job) => eventually(() => readStatus(job.dir));

/** What a call printed and its exit code, in one line. */
async function ask(temp: TempBase, side: SideName, ...args: string[]): Promise<string> {
  const run: CliRun = await temp.run(side, args, { extra: BRISK });
  return `${run.code} ${JSON.stringify(run.stdout.toString('utf8'))}`;
}

async function kill(pid: number): Promise<void> {
  const identity = identityOf(pid);
  process.kill(pid, 'SIGKILL');
  await eventually(() => identity === undefined || !isAliveAs(pid, identity));
}

async function killSupervisor(job: Job): Promise<number> {
  const pids = readPids(job.dir) ?? expect.fail('no pid file');
  await kill(pids.supervisor_pid);
  return pids.worker_pid;
}

const ways: { starter: SideName; other: SideName }[] = [
  { starter: 'reference', other: 'ours' },
  { starter: 'ours', other: 'reference' },
];

sayIfSkipped('cross');

describe.skipIf(unavailable).each(ways)(
  'a job started by $starter, seen from $other',
  ({ starter, other }) => {
    test('status, wait and result of a finished job', async ({ temp }) => {
      const flags = ['--label', 'l', '--result-path', 'result', '--input-digest', 'd'];
      const job = await start(temp, starter, fixture('writes-result.sh', 'result', 'the result', 0), flags);
      expect(await ask(temp, other, 'wait', '--max-secs', '20', job.id)).toBe('0 "done\\n"');
      expect(await ask(temp, other, 'status', job.id)).toBe('0 "done\\n"');
      expect(await ask(temp, other, 'status', '--skill', 's', job.dir)).toBe('0 "done\\n"');
      expect(await ask(temp, other, 'result', job.id)).toBe('0 "the result"');
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(await ask(temp, other, 'wait', '--deadline-secs', '1000', job.id)).toMatch(
        /^0 "l\\t\S+\\tdone\\t\d+s\\nall settled\\n"$/,
      );
    });

    test('a failed job keeps its reason', async ({ temp }) => {
      const job = await start(temp, starter, sh('exit 5'));
      await settled(job);
      expect(await ask(temp, other, 'wait', '--deadline-secs', '1000', job.id)).toMatch(
        /\\tworker exited 5\\nall settled\\n"$/,
      );
      expect(await ask(temp, other, 'result', job.id)).toBe('3 ""');
    });

    test('a worker that could not be launched, and one that was never started', async ({ temp }) => {
      const job = await start(temp, starter, [temp.file('bad.sh', '#!/no/such/interpreter\n', 0o755)]);
      await settled(job);
      expect(await ask(temp, other, 'status', job.id)).toBe('0 "failed\\n"');
      await temp.run(starter, ['start', '--skill', 's', '--run-id', 'never', '--', 'no-such-program']);
      const never = jobDirsBelow(join(temp.base, 's/never'))[0] ?? expect.fail('no directory');
      expect(await ask(temp, other, 'status', basename(never))).toBe('0 "never-started\\n"');
      expect(await ask(temp, other, 'reap', never)).toBe('0 ""');
    });

    test('a wait ends when the job does', async ({ temp }) => {
      const job = await start(temp, starter, sh('while [ ! -e go ]; do sleep 0.05; done'));
      expect(await ask(temp, other, 'status', job.id)).toBe('0 "running\\n"');
      expect(await ask(temp, other, 'result', job.id)).toBe('2 ""');
      const before = performance.now();
      const waiting = ask(temp, other, 'wait', '--max-secs', '40', job.id);
      temp.file('go', '');
      expect(await waiting).toBe('0 "done\\n"');
      expect(performance.now() - before).toBeLessThan(20_000);
    });

    test('the deadline counts from its start', async ({ temp }) => {
      const job = await start(temp, starter, sh('sleep 60'), ['--label', 'l']);
      expect(await ask(temp, other, 'wait', '--deadline-secs', '1000', '--max-secs', '0', job.id)).toMatch(
        /^0 "l\\t\S+\\trunning\\t\d+s\\nwaiting: 1 of 1 still running; (9\d\d|1000)s left before the deadline\\n"$/,
      );
      expect(await ask(temp, other, 'wait', '--deadline-secs', '0', '--max-secs', '0', job.id)).toMatch(
        /\\ndeadline passed: reap /,
      );
      await temp.ledger.endAll();
    });

    test('reap ends the worker, its supervisor records the timeout', async ({ temp }) => {
      const job = await start(temp, starter, sh('sleep 60 & echo "ready $$ $!"; wait'));
      const pids = await ready(job);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(await settled(job)).toBe('timeout');
      expect(readReason(job.dir)).toBe('reaped on request before completion');
      // With us they are gone before the record is there; the reference only sees to it that they will be.
      if (starter === 'reference') await eventually(() => pids.filter(isAlive).length === 0);
      expect(pids.filter(isAlive)).toEqual([]);
      expect(await ask(temp, starter, 'status', job.id)).toBe('0 "timeout\\n"');
    });

    test('reap ends a worker that ignores TERM; the timeout is recorded once', async ({ temp }) => {
      const job = await start(temp, starter, fixture('ignores-term.sh'), ['--result-path', 'result'], {
        CE_PEER_GRACE_SECS: '2',
      });
      const [worker] = await ready(job);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(await settled(job)).toBe('timeout');
      await eventually(() => !isAlive(worker));
      expect(await ask(temp, starter, 'result', job.id)).toBe('3 ""');
    });

    test('a worker that finishes during the grace of a reap has timed out', async ({ temp }) => {
      const worker = fixture('finishes-on-term.sh', temp.at('result'), 'too late');
      const job = await start(temp, starter, worker, ['--result-path', 'result']);
      await ready(job);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(await settled(job)).toBe('timeout');
    });

    test('both reap it at once: one timeout', async ({ temp }) => {
      const job = await start(temp, starter, sh('echo "ready $$"; exec sleep 60'));
      await ready(job);
      const codes = await Promise.all([ask(temp, starter, 'reap', job.id), ask(temp, other, 'reap', job.id)]);
      expect(codes).toEqual(['0 ""', '0 ""']);
      expect(await settled(job)).toBe('timeout');
    });

    test('both wait for it at once', async ({ temp }) => {
      const job = await start(temp, starter, sh('while [ ! -e go ]; do sleep 0.05; done; exit 1'));
      const waiting = [starter, other].map((side) => ask(temp, side, 'wait', '--max-secs', '40', job.id));
      temp.file('go', '');
      expect(await Promise.all(waiting)).toEqual(['0 "failed\\n"', '0 "failed\\n"']);
    });

    test('its supervisor was killed: reap kills the worker and records the end', async ({ temp }) => {
      const job = await start(temp, starter, sh('trap \'\' TERM; sleep 60 & echo "ready $$ $!"; wait'), [
        '--result-path',
        'result',
      ]);
      const pids = await ready(job);
      await killSupervisor(job);
      expect(pids.filter(isAlive)).toEqual(pids);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('timeout');
      expect(readReason(job.dir)).toMatch(/reap/);
      await eventually(() => pids.filter(isAlive).length === 0);
      expect(await ask(temp, starter, 'status', job.id)).toBe('0 "timeout\\n"');
    });

    test('its supervisor was killed, its result is there: reap records it as done', async ({ temp }) => {
      const worker = sh('printf "in time" > result; echo "ready $$"; exec sleep 60');
      const job = await start(temp, starter, worker, ['--result-path', 'result']);
      const [pid] = await ready(job);
      await killSupervisor(job);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('done');
      await eventually(() => !isAlive(pid));
      expect(await ask(temp, starter, 'result', job.id)).toBe('0 "in time"');
    });

    test('supervisor and worker were killed: reap sweeps what is left of the group and records died-without-result', async ({
      temp,
    }) => {
      const job = await start(temp, starter, sh('sleep 60 & echo "ready $$ $!"; wait'));
      const [worker, child = 0] = await ready(job);
      await killSupervisor(job);
      await kill(worker);
      expect(isAlive(child)).toBe(true);
      expect(await ask(temp, other, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('died-without-result');
      await eventually(() => !isAlive(child));
    });

    test('both reap it at once after its supervisor was killed: one record', async ({ temp }) => {
      const job = await start(temp, starter, sh('echo "ready $$"; exec sleep 60'));
      const [worker] = await ready(job);
      await killSupervisor(job);
      const codes = await Promise.all([ask(temp, starter, 'reap', job.id), ask(temp, other, 'reap', job.id)]);
      expect(codes).toEqual(['0 ""', '0 ""']);
      // Whoever comes second finds the worker dead already; each of the two words is true.
      expect(['timeout', 'died-without-result']).toContain(await settled(job));
      await eventually(() => !isAlive(worker));
    });

    test('the sweep of a start spares its young run', async ({ temp }) => {
      const job = await start(temp, starter, sh('true'), ['--run-id', 'young']);
      await settled(job);
      await start(temp, other, sh('true')).then(settled);
      expect(readStatus(job.dir)).toBe('done');
    });

    test('the sweep of a start removes its old run', async ({ temp }) => {
      const job = await start(temp, starter, sh('true'), ['--run-id', 'old']);
      await settled(job);
      await eventually(() => !temp.ledger.living().length);
      const then = Date.now() / 1000 - 2 * 24 * 3600;
      for (const name of readdirSync(job.dir)) utimesSync(join(job.dir, name), then, then);
      for (const path of [job.dir, dirname(job.dir), dirname(dirname(job.dir))]) utimesSync(path, then, then);
      // A start on a slow machine leaves to the next one what it has no time for.
      await eventually(async () => {
        await start(temp, other, sh('true')).then(settled);
        return jobDirsBelow(temp.root).every((dir) => dir !== job.dir);
      });
    });

    test('a job started from inside it by the other is spared when it is reaped', async ({ temp }) => {
      const outer = await start(temp, starter, fixture('nested-job.sh', ...commandOf(other)), [
        '--run-id',
        'outer',
      ]);
      const nested = await eventually(() => /^ready \d+ (\S+)\n/m.exec(readLog(outer.dir))?.[1]);
      expect(await ask(temp, other, 'reap', outer.id)).toBe('0 ""');
      expect(await settled(outer)).toBe('timeout');
      expect(await ask(temp, starter, 'status', nested)).toBe('0 "running\\n"');
      expect(await ask(temp, starter, 'reap', nested)).toBe('0 ""');
      expect(await eventually(() => readStatus(join(temp.base, 's/nested/jobs', nested)))).toBe('timeout');
    });

    test('rows of jobs of both, in one call', async ({ temp }) => {
      const one = await start(temp, starter, sh('true'));
      const two = await start(temp, other, sh('false'));
      await Promise.all([settled(one), settled(two)]);
      for (const side of [starter, other]) {
        const rows = `${one.id}\tdone\n${two.id}\tfailed\n`;
        expect(await ask(temp, side, 'status', one.id, two.id)).toBe(`0 ${JSON.stringify(rows)}`);
      }
    });

    test('jobs of ce-work below CE_WORK_RUNS_ROOT, without an idle window', async ({ temp }) => {
      const env = { CE_WORK_RUNS_ROOT: temp.at('work'), CE_PEER_IDLE_SECS: '0' };
      const job = await start(temp, starter, sh('sleep 60'), ['--skill', 'ce-work'], env);
      const run = await temp.run(other, ['reap', '--skill', 'ce-work', job.id], {
        extra: { ...BRISK, ...env },
      });
      expect(run.code).toBe(0);
      expect(await settled(job)).toBe('timeout');
    });
  },
);

describe.skipIf(unavailable)('what only the reference leaves', () => {
  test('a meta.json with Infinity in it is read by us: label, start and result', async ({ temp }) => {
    const flags = ['--label', 'l', '--result-path', 'result'];
    const job = await start(temp, 'reference', fixture('writes-result.sh', 'result', 'x', 0), flags, {
      CE_PEER_IDLE_SECS: 'inf',
      CE_PEER_HARD_SECS: 'inf',
    });
    await settled(job);
    expect(await ask(temp, 'ours', 'result', job.id)).toBe('0 "x"');
    expect(await ask(temp, 'ours', 'wait', '--deadline-secs', '1000', job.id)).toMatch(/^0 "l\\t/);
  });

  test('a running job with windows of Infinity is reaped by us', async ({ temp }) => {
    const job = await start(temp, 'reference', sh('echo "ready $$"; exec sleep 60'), [], {
      CE_PEER_HARD_SECS: 'inf',
    });
    const [worker] = await ready(job);
    await killSupervisor(job);
    expect(await ask(temp, 'ours', 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    await eventually(() => !isAlive(worker));
  });

  test('a run folder that is older than our fields: an old job directory with a pid file of two numbers', async ({
    temp,
  }) => {
    const dir = join(temp.base, 's/r/jobs/20260101T000000Z-00000000');
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, 'meta.json'), '{"job_id": "20260101T000000Z-00000000"}\n');
    writeFileSync(join(dir, 'pid'), '{"supervisor_pid": 4194303, "worker_pid": 4194302}\n');
    writeFileSync(join(dir, 'out.log'), '');
    expect(await ask(temp, 'ours', 'reap', dir)).toBe('0 ""');
    expect(readStatus(dir)).toBe('died-without-result');
    expect(await ask(temp, 'reference', 'status', dir)).toBe('0 "died-without-result\\n"');
  });
});
