import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  ask,
  atRest,
  BRISK,
  gone,
  type Job,
  kill,
  killSupervisor,
  pidsOf,
  ready,
  settled,
  start,
} from '../support/jobs.ts';
import { isAlive } from '../support/proc.ts';
import { fixture, sh } from '../support/programs.ts';
import { readOutcome, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { onTinyDisk } from '../support/tiny-disk.ts';

const isRoot = process.geteuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: devices, foreign owners and read-only disks: needs root\n');

let floorMs: number | undefined;

async function timed(part: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await part();
  return performance.now() - before;
}

/**
 * Answers in less than a second when the machine is idle; what it may take on a loaded one is counted against a call that
 * opens nothing. Once may be late by chance; what waits for something always is.
 */
async function promptly(
  temp: TempBase,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  for (const late: string[] = []; ; floorMs = undefined) {
    floorMs ??= await timed(() => temp.run('ours', ['--version']));
    const begun = performance.now();
    const run = await temp.run('ours', args);
    const tookMs = performance.now() - begun;
    if (tookMs >= 1000 + 8 * floorMs) {
      late.push(`${tookMs} ms, against ${floorMs}`);
      expect(late.length, late.join('; ')).toBeLessThan(3);
      continue;
    }
    expect(run.stderr).not.toMatch(/\n\s+at |internal error/);
    return { code: run.code, stdout: run.stdout.toString(), stderr: run.stderr };
  }
}

interface Plant {
  readonly what: string;
  readonly root?: boolean;
  plant(path: string, temp: TempBase): void;
}

const plants: readonly Plant[] = [
  { what: 'a FIFO', plant: (path) => execFileSync('mkfifo', [path]) },
  { what: 'a directory', plant: (path) => mkdirSync(path) },
  { what: 'a link to a file', plant: (path, temp) => symlinkSync(temp.file('secret', 'done\n'), path) },
  { what: 'a dangling link', plant: (path) => symlinkSync('/no/such/place', path) },
  { what: 'a link to a device', plant: (path) => symlinkSync('/dev/zero', path) },
  { what: 'a link to itself', plant: (path) => symlinkSync(path, path) },
  { what: 'a socket', plant: (path) => bindSocket(path) },
  { what: 'a device', root: true, plant: (path) => execFileSync('mknod', [path, 'c', '1', '5']) },
  {
    what: 'a file of somebody else',
    root: true,
    plant: (path) => {
      writeFileSync(path, 'done\n');
      chownSync(path, 12345, 12345);
    },
  },
];

/** Leaves a socket file behind. */
function bindSocket(path: string): void {
  const script =
    'const n = require("net"); n.createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
  try {
    // A socket's path may be 107 bytes long: it is named from its own folder.
    execFileSync(process.execPath, ['-e', script, 'sock'], { cwd: join(path, '..'), stdio: 'ignore' });
  } catch {
    // killed, as it asked for
  }
  renameSync(join(path, '..', 'sock'), path);
}

describe.each(plants)('$what', ({ plant, root }) => {
  const skipped = root === true && !isRoot;

  test.skipIf(skipped)(
    'in place of the result is refused at once, and nothing is printed',
    async ({ temp }) => {
      const job = await start(temp, sh('echo x > out'), { flags: ['--result-path', 'out'] });
      expect(await settled(job)).toBe('done');
      rmSync(temp.at('out'));
      plant(temp.at('out'), temp);
      for (const args of [
        ['result', job.id],
        ['result', '--path', temp.at('out')],
        ['result', '--json', job.id],
      ]) {
        expect(await promptly(temp, args)).toMatchObject({ code: 4, stdout: '' });
      }
    },
  );

  test.skipIf(skipped)(
    'in place of the status makes the job unreadable, and hangs nobody',
    async ({ temp }) => {
      const job = await start(temp, sh('true'));
      // With a supervisor that is still there, a reap would put the record right.
      expect(await atRest(job)).toBe('done');
      rmSync(join(job.dir, 'status'));
      plant(join(job.dir, 'status'), temp);
      expect(await promptly(temp, ['status', job.id])).toMatchObject({ code: 0, stdout: 'unreadable\n' });
      expect(await promptly(temp, ['wait', '--max-secs', '30', job.id])).toMatchObject({
        code: 0,
        stdout: 'unreadable\n',
      });
      expect(await promptly(temp, ['result', job.id])).toMatchObject({ code: 4, stdout: '' });
      expect((await promptly(temp, ['list'])).stdout).toContain('unreadable');
      expect(await promptly(temp, ['reap', job.id])).toMatchObject({ code: 4 });
    },
  );

  test.skipIf(skipped)('in place of the log is refused, and keeps nobody from the rest', async ({ temp }) => {
    const job = await start(temp, sh('echo x > out'), { flags: ['--result-path', 'out'] });
    expect(await settled(job)).toBe('done');
    rmSync(join(job.dir, 'out.log'));
    plant(join(job.dir, 'out.log'), temp);
    expect(await promptly(temp, ['log', job.id])).toMatchObject({ code: 4, stdout: '' });
    expect(await promptly(temp, ['status', job.id])).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(await promptly(temp, ['result', job.id])).toMatchObject({ code: 0, stdout: 'x\n' });
  });
});

const RECORDS = [
  'meta.json',
  'pid',
  'out.log',
  'reason',
  'outcome.json',
  'status',
  '.reserve-status',
  '.reserve-outcome',
];
const worst = plants.filter(({ what }) => ['a FIFO', 'a directory', 'a link to itself'].includes(what));

describe.concurrent.each(worst)('$what', ({ plant }) => {
  test.for(RECORDS)('in place of %s does not keep a living job from being ended', async (name, { temp }) => {
    const job = await start(temp, sh('trap "" TERM; echo "ready $$"; while :; do sleep 1; done'));
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(join(job.dir, name), { force: true });
    plant(join(job.dir, name), temp);
    expect((await temp.run('ours', ['status', job.id])).code).toBe(0);
    const reaped = await temp.run('ours', ['reap', job.id], { extra: BRISK });
    expect(reaped.stderr).not.toMatch(/\n\s+at |internal error/);
    expect([0, 1, 4]).toContain(reaped.code);
    await gone([...members, supervisor_pid]);
  });
});

test('a log that was made a link to /dev/null does not make its writers members of the job', async ({
  temp,
}) => {
  const bystander = spawn('sleep', ['300'], { stdio: ['ignore', 'ignore', 'ignore'], detached: true });
  const pid = bystander.pid ?? expect.fail('no bystander');
  temp.ledger.register(pid, 'bystander');
  for (const killed of [false, true]) {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
    const members = await ready(job);
    if (killed) await killSupervisor(job);
    rmSync(join(job.dir, 'out.log'));
    symlinkSync('/dev/null', join(job.dir, 'out.log'));
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    await gone(members);
    expect(isAlive(pid)).toBe(true);
  }
  await kill(pid);
});

describe('a job directory', () => {
  test('that is a link is unreadable, and what it points to is not touched', async ({ temp }) => {
    const job = await start(temp, sh('echo x > out'), { flags: ['--result-path', 'out'] });
    await settled(job);
    const link = join(temp.base, 's/r/jobs/20260101T000000Z-00000000');
    symlinkSync(job.dir, link);
    expect(await promptly(temp, ['status', link])).toMatchObject({ stdout: 'unreadable\n' });
    expect(await promptly(temp, ['result', link])).toMatchObject({ code: 4, stdout: '' });
    expect((await promptly(temp, ['reap', link])).code).toBe(4);
  });

  test.skipIf(!isRoot)('of somebody else is unreadable', async ({ temp }) => {
    const job = await start(temp, sh('true'));
    await settled(job);
    chownSync(job.dir, 12345, 12345);
    expect(await promptly(temp, ['status', job.id])).toMatchObject({ stdout: 'unreadable\n' });
    expect(await promptly(temp, ['log', job.id])).toMatchObject({ code: 4, stdout: '' });
    chownSync(job.dir, 0, 0);
  });

  test('that is deleted under a running job: the worker is ended, and nobody hangs', async ({ temp }) => {
    const job = await start(temp, fixture('double-fork-child.py'));
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(job.dir, { recursive: true });
    await gone([...members, supervisor_pid]);
    expect(await promptly(temp, ['status', job.id])).toMatchObject({ code: 1, stdout: '' });
  });

  test('that is deleted while its worker writes: the same', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; while :; do echo x; sleep 0.05; done'));
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(join(temp.base, 's'), { recursive: true });
    await gone([...members, supervisor_pid]);
  });

  test('that is replaced by another one under a running job: the same, and the other one stays as it is', async ({
    temp,
  }) => {
    const job = await start(temp, sh('echo "ready $$"; while :; do echo x; sleep 0.05; done'));
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(job.dir, { recursive: true });
    mkdirSync(job.dir, { mode: 0o700 });
    await gone([...members, supervisor_pid]);
    expect(existsSync(join(job.dir, 'status'))).toBe(false);
  });

  test.skipIf(!isRoot)(
    'on a disk that becomes read-only: the outcome is told all the same',
    async ({ temp }) => {
      await onTinyDisk(temp, '1m', async (remount) => {
        const job = await start(temp, sh('echo x > out; echo "ready $$"; exec sleep 100'), {
          flags: ['--result-path', 'out'],
        });
        await ready(job);
        const { worker_pid } = pidsOf(job);
        await killSupervisor(job);
        await kill(worker_pid);
        await remount('ro');
        expect(await ask(temp, 'status', job.id)).toBe('0 "done\\n"');
        expect(await ask(temp, 'wait', '--max-secs', '20', job.id)).toBe('0 "done\\n"');
        expect(await ask(temp, 'result', job.id)).toBe('0 "x\\n"');
        expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
        const run = await temp.run('ours', ['start', '--skill', 's', '--run-id', 'r', '--', 'true']);
        expect(run.code).toBe(1);
        expect(run.stderr).toMatch(/^peer-jobs: .*\n$/);
        await remount('rw');
        await ask(temp, 'status', job.id);
        expect(readStatus(job.dir)).toBe('done');
      });
    },
  );
});

describe('a status that is', () => {
  test.for(['', 'do', 'done!', 'running\n', 'DONE\n', 'x'.repeat(10_000)])(
    '%j is no outcome',
    async (text, { temp }) => {
      const job = await start(temp, sh('true'));
      await settled(job);
      writeFileSync(join(job.dir, 'status'), text);
      expect(await promptly(temp, ['status', job.id])).toMatchObject({ code: 0, stdout: 'unreadable\n' });
      expect(await promptly(temp, ['result', job.id])).toMatchObject({ code: 4 });
    },
  );
});

describe('a result', () => {
  async function done(temp: TempBase, script: string, flags: readonly string[] = []): Promise<Job> {
    const job = await start(temp, sh(script), { flags: ['--result-path', 'out', ...flags] });
    expect(await settled(job)).toBe('done');
    return job;
  }

  test('over the cap of the reader is refused, nothing of it printed', async ({ temp }) => {
    const job = await done(temp, 'head -c 5000 /dev/zero > out');
    const run = await temp.run('ours', ['result', job.id], { extra: { CE_PEER_RESULT_MAX_BYTES: '1000' } });
    expect({ code: run.code, stdout: run.stdout.length }).toEqual({ code: 4, stdout: 0 });
    expect(run.stderr).toMatch(/5000 bytes exceed the cap of 1000 bytes/);
  });

  test('that is gone since is absent', async ({ temp }) => {
    const job = await done(temp, 'echo x > out');
    rmSync(temp.at('out'));
    expect(await promptly(temp, ['result', job.id])).toMatchObject({ code: 3, stdout: '' });
  });

  test('that nobody may read is refused or read, never a crash', async ({ temp }) => {
    const job = await done(temp, 'echo x > out');
    chmodSync(temp.at('out'), 0);
    expect((await promptly(temp, ['result', job.id])).code).toBe(isRoot ? 0 : 4);
  });

  test('that is replaced while it is read comes whole: one version or the other', async ({ temp }) => {
    const versions = ['a', 'b'].map((letter) => letter.repeat(400_000));
    const job = await done(temp, `head -c 400000 /dev/zero | tr '\\0' a > out`);
    let over = false;
    const replacing = (async () => {
      for (let turn = 0; !over; turn += 1) {
        writeFileSync(temp.at('next'), versions[turn % 2] ?? '');
        renameSync(temp.at('next'), temp.at('out'));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let read = 0; read < 6; read += 1) {
      const run = await temp.run('ours', ['result', job.id]);
      expect(run.code).toBe(0);
      expect(versions.includes(run.stdout.toString())).toBe(true);
    }
    over = true;
    await replacing;
  });

  test('whose digest was recorded can be told from one that was changed afterwards', async ({ temp }) => {
    const job = await done(temp, 'echo x > out');
    expect(readOutcome(job.dir)?.result_sha256).toBe(
      '73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac',
    );
    expect(await eventually(() => readOutcome(job.dir)?.result_bytes)).toBe(2);
  });
});
