import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, atRest, BRISK, gone, jobsBelow, kill, pidsOf, ready, settled, start } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, modeOf, readStatus } from '../support/read-job.ts';
import { snapshotOf } from '../support/snapshot.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { onTinyDisk } from '../support/tiny-disk.ts';

const START = ['start', '--skill', 's', '--run-id', 'r', '--', 'touch', 'ran'];
const isRoot = process.geteuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: full disks and foreign owners: needs root\n');

/** The levels below the base, each of which may be something else than a directory of ours. */
const LEVELS = ['', 's', 's/r', 's/r/jobs'];

async function refused(temp: TempBase, says: RegExp, extra = {}): Promise<void> {
  const run = await temp.run('ours', START, { extra });
  expect({ code: run.code, stdout: run.stdout.toString() }).toEqual({ code: 1, stdout: '' });
  expect(run.stderr.trimEnd().split('\n').length, run.stderr).toBe(1);
  expect(run.stderr).toMatch(says);
  expect(run.stderr).not.toMatch(/\n\s+at |internal error/);
  expect(existsSync(temp.at('ran'))).toBe(false);
}

/** Private directories down to, and without, the level. */
function prepare(temp: TempBase, level: string): string {
  const path = join(temp.base, level);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

describe('a start aborts, and touches nothing behind it, at', () => {
  test.for(LEVELS)('a link planted at <base>/%s', async (level, { temp }) => {
    const elsewhere = temp.at('elsewhere');
    mkdirSync(elsewhere, { mode: 0o755 });
    symlinkSync(elsewhere, prepare(temp, level));
    await refused(temp, /not a real directory/);
    expect(snapshotOf(elsewhere)).toEqual(['. dir 755']);
  });

  test.for(LEVELS)('a file at <base>/%s', async (level, { temp }) => {
    writeFileSync(prepare(temp, level), 'mine');
    await refused(temp, /not a real directory|not a directory/);
    expect(snapshotOf(join(temp.base, level))).toEqual(['. file 644 4']);
  });

  test.skipIf(!isRoot).for(LEVELS)('a foreign directory at <base>/%s', async (level, { temp }) => {
    const path = prepare(temp, level);
    mkdirSync(path, { mode: 0o777 });
    chmodSync(path, 0o777);
    chownSync(path, 12345, 12345);
    await refused(temp, /not owned by the current user/);
    expect(snapshotOf(path)).toEqual(['. dir 777']);
  });
});

describe('a base that', () => {
  test.for([
    { holds: 'a home', files: ['.profile', '.ssh/id', 'notes.txt'], mode: 0o755 },
    { holds: 'a private home', files: ['.bashrc', 'work/x'], mode: 0o700 },
    { holds: 'a project', files: ['package.json', 'src/index.ts'], mode: 0o755 },
    { holds: 'a single file', files: ['thesis.doc'], mode: 0o755 },
    { holds: 'a git repository alone', files: ['.git/HEAD'], mode: 0o750 },
  ])('holds $holds is refused and left as it is', async ({ files, mode }, { temp }) => {
    for (const name of files) {
      const path = join(temp.base, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      writeFileSync(path, 'mine');
    }
    chmodSync(temp.base, mode);
    const before = snapshotOf(temp.base);
    await refused(temp, /holds files that are not peer jobs.*CE_PEER_JOBS_ROOT/);
    expect(snapshotOf(temp.base)).toEqual(before);
  });

  test('is the home directory, even an empty one, is refused', async ({ temp }) => {
    mkdirSync(temp.base, { mode: 0o755 });
    writeFileSync(join(temp.base, 'x'), '');
    await refused(temp, /refusing/, { HOME: temp.base });
    expect(modeOf(temp.base)).toBe('0755');
  });

  test('is empty, or plainly ours, and too open is made private', async ({ temp }) => {
    mkdirSync(temp.base);
    chmodSync(temp.base, 0o755);
    const job = await start(temp, sh('true'));
    await settled(job);
    expect(modeOf(temp.base)).toBe('0700');
    chmodSync(temp.base, 0o777);
    await settled(await start(temp, sh('true')));
    expect(modeOf(temp.base)).toBe('0700');
  });

  test('is reached through a link above it works', async ({ temp }) => {
    mkdirSync(temp.at('real'));
    symlinkSync(temp.at('real'), temp.at('via'));
    const run = await temp.run('ours', START, { extra: { CE_PEER_JOBS_ROOT: temp.at('via/base') } });
    expect(run.stderr).toBe('');
    expect(await eventually(() => readStatus(jobDirsBelow(temp.at('real'))[0] ?? ''))).toBe('done');
  });

  test('cannot be made says so', async ({ temp }) => {
    temp.file('plain', '');
    await refused(temp, /cannot make the directory|not a (real )?directory/, {
      CE_PEER_JOBS_ROOT: temp.at('plain/base'),
    });
  });

  test('is a relative path is taken from the working directory', async ({ temp }) => {
    const run = await temp.run('ours', START, { extra: { CE_PEER_JOBS_ROOT: 'rel' } });
    expect(run.code).toBe(0);
    const [dir = expect.fail('no job')] = jobDirsBelow(temp.at('rel'));
    await eventually(() => readStatus(dir));
  });
});

describe.skipIf(!isRoot)('a disk without room', () => {
  test('start says so in one line and leaves nothing half-written that runs', async ({ temp }) => {
    await onTinyDisk(temp, '128k', async () => {
      mkdirSync(join(temp.base, 's/r/jobs'), { recursive: true, mode: 0o700 });
      fill(join(temp.base, 's/filler'));
      await refused(temp, /ENOSPC|no space/i);
      for (const job of jobsBelow(temp.base)) {
        expect(await ask(temp, 'status', job.dir)).toMatch(/^0 "(never-started|failed|died-without-result)/);
      }
    });
  });

  test('a job whose disk fills up while it runs has its outcome recorded all the same', async ({ temp }) => {
    await onTinyDisk(temp, '128k', async () => {
      const fill = 'until [ -e go ]; do sleep 0.05; done; cat /dev/zero; printf x > out; echo lost; exit 0';
      const job = await start(temp, sh(fill), { flags: ['--result-path', temp.at('out')] });
      temp.file('go', '');
      expect(await settled(job)).toBe('done');
      expect(await ask(temp, 'status', job.id)).toBe('0 "done\\n"');
      expect(await ask(temp, 'result', job.id)).toBe('0 "x"');
    });
  });

  const PAGE_BYTES = 4096;

  /** A worker that takes the last room at once, and needs none itself. */
  const GREEDY = 'printf x > "$1"; cat /dev/zero > "$2"; exit 0';

  test('a worker that fills the disk at once, before it is on record, comes to its own end', {
    timeout: 300_000,
  }, async ({ temp }) => {
    await onTinyDisk(temp, '256k', async () => {
      for (let attempt = 0; attempt < 25; attempt += 1) {
        const [out, filler] = [temp.at(`out-${attempt}`), join(temp.base, 's/filler')];
        const job = await start(temp, sh(GREEDY, out, filler), { flags: ['--result-path', out] });
        expect(`${attempt} ${await atRest(job)}`).toBe(`${attempt} done`);
        expect(await ask(temp, 'result', job.id)).toBe('0 "x"');
        execFileSync('rm', ['-r', filler, job.dir]);
      }
    });
  });

  test('with room for a few pages more: whatever is started comes to its own end, else nothing is', {
    timeout: 300_000,
  }, async ({ temp }) => {
    const outcomes: string[] = [];
    await onTinyDisk(temp, '256k', async () => {
      for (let pages = 1; pages <= 14; pages += 1) {
        const filler = join(temp.base, 'filler');
        mkdirSync(join(temp.base, 's/r/jobs'), { recursive: true, mode: 0o700 });
        fill(filler);
        truncateSync(filler, statSync(filler).size - pages * PAGE_BYTES);
        const run = await temp.run('ours', START);
        const [job] = jobsBelow(temp.base);
        const end = run.code === 0 && job ? await settled(job) : `${run.code} ${run.stderr}`;
        expect(`${pages} ${end}`).toMatch(/ done$| 1 peer-jobs: .*(ENOSPC|no space)/i);
        expect(existsSync(temp.at('ran'))).toBe(end === 'done');
        outcomes.push(end);
        await eventually(() => temp.ledger.living().length === 0);
        execFileSync('rm', ['-rf', temp.at('ran'), filler, join(temp.base, 's')]);
      }
    });
    expect(outcomes).toContain('done');
    expect(outcomes[0]).not.toBe('done');
  });

  test('a supervisor killed on a full disk: the outcome is told, and recorded once there is room', async ({
    temp,
  }) => {
    await onTinyDisk(temp, '128k', async () => {
      const job = await start(temp, sh('printf x > out; echo "ready $$"; exec sleep 60'), {
        flags: ['--result-path', temp.at('out')],
      });
      await ready(job);
      fill(join(temp.base, 's/filler'));
      const pids = pidsOf(job);
      await kill(pids.supervisor_pid);
      expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
      await kill(pids.worker_pid);
      for (const again of [1, 2])
        expect(`${again} ${await ask(temp, 'status', job.id)}`).toBe(`${again} 0 "done\\n"`);
      expect(await ask(temp, 'result', job.id)).toBe('0 "x"');
      execFileSync('rm', [join(temp.base, 's/filler')]);
      expect(await ask(temp, 'wait', '--max-secs', '5', job.id)).toBe('0 "done\\n"');
      expect(readStatus(job.dir)).toBe('done');
    });
  });

  test('a worker on a full disk without a supervisor can still be reaped', async ({ temp }) => {
    await onTinyDisk(temp, '128k', async () => {
      const job = await start(temp, sh('trap \'\' TERM; echo "ready $$"; while :; do sleep 1; done'));
      await ready(job);
      fill(join(temp.base, 's/filler'));
      const pids = pidsOf(job);
      await kill(pids.supervisor_pid);
      expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
      await gone([pids.worker_pid]);
    });
  });

  const ATTEMPTS = Number(process.env.PEER_JOBS_FULL_DISK_ATTEMPTS ?? 15);

  test(`${ATTEMPTS} starts on a disk that fills up: each runs to a true outcome or fails cleanly, and with room again all is readable and sweepable`, {
    timeout: 300_000 + ATTEMPTS * 10_000,
  }, async ({ temp }) => {
    await onTinyDisk(temp, '256k', async () => {
      const started: string[] = [];
      let failed = 0;
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const run = await temp.run(
          'ours',
          [
            ...['start', '--skill', 's', '--run-id', `r${attempt % 3}`, '--no-sweep'],
            ...['--result-path', temp.at(`out-${attempt}`)],
            ...[
              '--',
              ...sh(`head -c 9000 /dev/urandom; printf ${attempt} > out-${attempt}; exit ${attempt % 2}`),
            ],
          ],
          { extra: BRISK },
        );
        expect([0, 1]).toContain(run.code);
        if (run.code === 0)
          started.push(`${run.stdout.toString().trim()} ${attempt % 2 === 0 ? 'done' : 'failed'}`);
        else {
          failed += 1;
          expect(run.stderr).toMatch(/^peer-jobs: .*(ENOSPC|no space).*\n$/i);
        }
      }
      expect(started.length).toBeGreaterThan(3);
      expect(failed, 'the disk never was full').toBeGreaterThan(0);
      await eventually(() => temp.ledger.living().length === 0, 60_000);
      execFileSync('mount', ['-o', 'remount,size=4m', temp.base]);
      for (const line of started) {
        const [id = '', state] = line.split(' ');
        expect(`${id} ${await ask(temp, 'status', id)}`).toBe(`${id} 0 "${state}\\n"`);
      }
      for (const job of jobsBelow(temp.base)) {
        expect(await ask(temp, 'status', job.dir)).toMatch(
          /^0 "(done|failed|died-without-result|never-started)\\n"$/,
        );
        expect(await ask(temp, 'reap', job.dir)).toBe('0 ""');
      }
      expect((await temp.run('ours', ['list', '--json'])).code).toBe(0);
      execFileSync('find', [join(temp.base, 's'), '-exec', 'touch', '-h', '-d', '3 days ago', '{}', '+']);
      await settled(await start(temp, sh('true'), { run: 'new' }));
      await eventually(async () => {
        await settled(await start(temp, sh('true'), { run: 'new' }));
        return listDirectory(join(temp.base, 's')).join() === 'new';
      });
    });
  });
});

/** Takes all the room there is. */
function fill(path: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1k'], { stdio: 'ignore' });
  } catch {
    // That is what it is for: no space left on device.
  }
}
