import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  ask,
  atRest,
  type Job,
  jobsBelow,
  kill,
  killSupervisor,
  ready,
  settled,
  start,
} from '../support/jobs.ts';
import { commandOf, sh } from '../support/programs.ts';
import { listDirectory, readJobFile, readLog, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

describe('a key', () => {
  test('raced by ten callers starts one job, and all ten get its id', async ({ temp }) => {
    for (const key of ['first', 'a key of/any [content]*']) {
      const worker = sh(`echo ran >> ran-${key.length}; exec sleep 60`);
      const jobs = await Promise.all(
        Array.from({ length: 10 }, () => start(temp, worker, { flags: ['--key', key] })),
      );
      const [id] = new Set(jobs.map((job) => job.id));
      expect(new Set(jobs.map((job) => job.id)).size).toBe(1);
      expect(await eventually(() => readJobFile(temp.scratch, `ran-${key.length}`))).toBe('ran\n');
      expect(
        jobsBelow(temp.base)
          .filter((job) => readStatus(job.dir) === undefined)
          .map((job) => job.id),
      ).toEqual([id]);
      await ask(temp, 'reap', id ?? '');
    }
    expect(jobsBelow(temp.base).length).toBe(2);
  });

  test('gives the first job back also after that has ended, whatever is asked for then', async ({ temp }) => {
    const first = await start(temp, sh('exit 3'), { flags: ['--key', 'k'] });
    await settled(first);
    const again = await start(temp, sh('echo another'), { flags: ['--key', 'k'] });
    expect(again.id).toBe(first.id);
    expect(readLog(first.dir)).toBe('');
  });

  test('counts within its run alone', async ({ temp }) => {
    const one = await start(temp, sh('true'), { flags: ['--key', 'k'], run: 'r1' });
    const two = await start(temp, sh('true'), { flags: ['--key', 'k'], run: 'r2' });
    const other = await start(temp, sh('true'), { flags: ['--key', 'other'], run: 'r1' });
    expect(new Set([one.id, two.id, other.id]).size).toBe(3);
    await Promise.all([one, two, other].map((job) => settled(job)));
  });

  test('of a start that failed is free for the next one', async ({ temp }) => {
    const failed = await temp.run('ours', [
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--key',
      'k',
      '--',
      'no-such-program',
    ]);
    expect(failed.code).toBe(1);
    const job = await start(temp, sh('true'), { flags: ['--key', 'k'] });
    expect(await settled(job)).toBe('done');
  });
});

describe('a key of a start that was killed before it was done', () => {
  /** What runs supervisors, in the place of node: it has all of its spec when `got` is there, and waits for `go`. */
  const held = (temp: TempBase): string => {
    const [spec, got, go] = ['spec', 'got', 'go'].map((name) => temp.at(name));
    const script = `cat > '${spec}'; : > '${got}'; until [ -e '${go}' ]; do sleep 0.05; done`;
    return temp.file('held', `#!/bin/sh\n${script}\nexec '${process.execPath}' "$@" < '${spec}'\n`, 0o755);
  };

  const keyed = ['start', '--skill', 's', '--run-id', 'r', '--key', 'k', '--'] as const;

  test('is free at once, and its supervisor that comes late starts nothing', async ({ temp }) => {
    const [node, cli = ''] = commandOf('ours');
    const env = { ...temp.env, PEER_JOBS_NODE: held(temp) };
    const starter = spawn(node, [cli, ...keyed, ...sh('echo ran >> ran-1')], {
      cwd: temp.scratch,
      env,
      stdio: 'ignore',
    });
    const starterPid = starter.pid ?? expect.fail('no starter');
    await eventually(() => listDirectory(temp.scratch).includes('got'), 60_000);
    await kill(starterPid);
    const [first = expect.fail('no job')] = jobsBelow(temp.base);
    const before = performance.now();
    await settled(await start(temp, sh('true'), { flags: ['--key', 'other'] }));
    const since = performance.now();
    const second = await start(temp, sh('echo ran >> ran-2'), { flags: ['--key', 'k'] });
    // For one that it cannot tell to be dead it would wait 30 s.
    expect(performance.now() - since).toBeLessThan(3 * (since - before) + 20_000);
    expect(second.id).not.toBe(first.id);
    expect(await settled(second)).toBe('done');
    temp.file('go', '');
    await eventually(() => temp.ledger.living().length === 0);
    expect(listDirectory(temp.scratch).filter((name) => name.startsWith('ran'))).toEqual(['ran-2']);
    expect(await ask(temp, 'status', first.id)).toBe('0 "never-started\\n"');
    expect((await start(temp, sh('true'), { flags: ['--key', 'k'] })).id).toBe(second.id);
  });

  test('raced by eight callers goes to one of them', async ({ temp }) => {
    const [node, cli = ''] = commandOf('ours');
    const env = { ...temp.env, PEER_JOBS_NODE: held(temp) };
    const starter = spawn(node, [cli, ...keyed, ...sh('echo ran >> ran')], {
      cwd: temp.scratch,
      env,
      stdio: 'ignore',
    });
    const starterPid = starter.pid ?? expect.fail('no starter');
    await eventually(() => listDirectory(temp.scratch).includes('got'), 60_000);
    const racing = Array.from({ length: 8 }, () =>
      start(temp, sh('echo ran >> ran'), { flags: ['--key', 'k'] }),
    );
    await kill(starterPid);
    const jobs = await Promise.all(racing);
    temp.file('go', '');
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
    await Promise.all(jobs.map((job) => settled(job)));
    await eventually(() => temp.ledger.living().length === 0);
    expect(execFileSync('cat', [temp.at('ran')]).toString()).toBe('ran\n');
  });

  test('or failed is free too, and leaves no trace of having been on its way', async ({ temp }) => {
    const failed = await temp.run('ours', [...keyed, ...sh('true')], {
      extra: { PEER_JOBS_NODE: '/bin/false' },
    });
    expect(failed.code).toBe(1);
    const [first = expect.fail('no job')] = jobsBelow(temp.base);
    expect(listDirectory(first.dir)).toEqual(['meta.json']);
    expect(await settled(await start(temp, sh('true'), { flags: ['--key', 'k'] }))).toBe('done');
  });
});

const THREE_DAYS_AGO = Date.now() / 1000 - 3 * 24 * 3600;

/** Makes everything below look three days old. */
function age(path: string): void {
  execFileSync('find', [
    path,
    '-depth',
    '-exec',
    'touch',
    '-h',
    '-d',
    `@${Math.floor(THREE_DAYS_AGO)}`,
    '{}',
    '+',
  ]);
}

const runs = (temp: TempBase): string[] => listDirectory(join(temp.base, 's'));

async function finished(temp: TempBase, run: string): Promise<Job> {
  const job = await start(temp, sh('true'), { run, flags: ['--no-sweep'] });
  await atRest(job);
  return job;
}

describe('the sweep of a start', () => {
  test('removes old runs beside its own, and spares young ones', async ({ temp }) => {
    for (const run of ['old-1', 'old-2', 'young']) await finished(temp, run);
    age(join(temp.base, 's/old-1'));
    age(join(temp.base, 's/old-2'));
    // A sweep has little time: on a slow box what it does not get to is the next one's.
    await eventually(async () => {
      await settled(await start(temp, sh('true'), { run: 'new' }));
      return runs(temp).join() === 'new,young';
    }, 60_000);
  });

  test('is not done with --no-sweep', async ({ temp }) => {
    await finished(temp, 'old');
    age(join(temp.base, 's/old'));
    await settled(await start(temp, sh('true'), { run: 'new', flags: ['--no-sweep'] }));
    expect(runs(temp)).toEqual(['new', 'old']);
  });

  test('never takes a live job, however old its records look', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { run: 'old' });
    await ready(job);
    age(join(temp.base, 's/old'));
    for (const run of ['new-1', 'new-2']) await settled(await start(temp, sh('true'), { run }));
    expect(runs(temp)).toContain('old');
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    await ask(temp, 'reap', job.id);
  });

  test('never takes a job whose supervisor is gone while its worker lives', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { run: 'old' });
    await ready(job);
    await killSupervisor(job);
    age(join(temp.base, 's/old'));
    await settled(await start(temp, sh('true'), { run: 'new' }));
    expect(runs(temp)).toEqual(['new', 'old']);
    await ask(temp, 'reap', job.id);
  });

  test('takes a job that died unrecorded long ago', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { run: 'old' });
    await ready(job);
    await kill(await killSupervisor(job));
    age(join(temp.base, 's/old'));
    await eventually(async () => {
      await settled(await start(temp, sh('true'), { run: 'new' }));
      return runs(temp).join() === 'new';
    }, 60_000);
  });

  test('spares an old run with one young record in it', async ({ temp }) => {
    const job = await finished(temp, 'mixed');
    age(join(temp.base, 's/mixed'));
    const now = Date.now() / 1000;
    utimesSync(join(job.dir, 'out.log'), now, now);
    await settled(await start(temp, sh('true'), { run: 'new' }));
    expect(runs(temp)).toEqual(['mixed', 'new']);
  });

  test('follows no link: neither a run that is one, nor one inside a run', async ({ temp }) => {
    mkdirSync(temp.at('precious'));
    writeFileSync(temp.at('precious/file'), 'mine');
    const job = await finished(temp, 'old');
    symlinkSync(temp.at('precious'), join(temp.base, 's/link'));
    symlinkSync(temp.at('precious'), join(job.dir, 'inside'));
    age(join(temp.base, 's'));
    await eventually(async () => {
      await settled(await start(temp, sh('true'), { run: 'new' }));
      return !runs(temp).includes('old');
    }, 60_000);
    expect(runs(temp)).toEqual(['link', 'new']);
    expect(readdirSync(temp.at('precious'))).toEqual(['file']);
  });

  test('starts in a run that is being swept get through: each has its job', async ({ temp }) => {
    // Nobody is done before all have started: what is done and made to look old may rightly go.
    const go = join(temp.scratch, 'go');
    const jobs = await Promise.all(
      Array.from({ length: 12 }, async (_, turn) => {
        const run = `run-${turn % 2}`;
        const old = join(temp.base, 's', run);
        if (turn > 1) {
          try {
            age(old);
          } catch {
            // swept in between
          }
        }
        return start(temp, sh(`until [ -e '${go}' ]; do sleep 0.1; done`), { run });
      }),
    );
    writeFileSync(go, '');
    for (const job of jobs) {
      const state = await eventually(async () => {
        const answer = await ask(temp, 'status', job.id);
        return answer !== '0 "running\\n"' && answer;
      });
      expect(state).toBe('0 "done\\n"');
    }
  });

  test('of thousands of old files does not hold up the start', async ({ temp }) => {
    mkdirSync(join(temp.base, 's/big/jobs/20260101T000000Z-00000000'), { recursive: true, mode: 0o700 });
    for (let file = 0; file < 5000; file += 1) {
      writeFileSync(join(temp.base, `s/big/jobs/20260101T000000Z-00000000/${file}`), '');
    }
    age(join(temp.base, 's'));
    const timed = async (flags: readonly string[]): Promise<number> => {
      const before = performance.now();
      await settled(await start(temp, sh('true'), { run: 'new', flags }));
      return performance.now() - before;
    };
    const without = await timed(['--no-sweep']);
    expect(await timed([])).toBeLessThan(5 * without + 5000);
  });
});
