import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import { isJobId } from '../../../runner-core/job/id.ts';
import { claimJobDir, keyHolder, takeKey } from '../../../runner-core/store/claim.ts';
import type { Workplace } from '../../../runner-core/store/roots.ts';
import { makeJob, test } from './directory.ts';
import { disk, systemError } from './interposed-fs.ts';

vi.mock('node:fs', async (original) => (await import('./interposed-fs.ts')).interpose(original));
afterEach(() => {
  disk.before = undefined;
});

const placeIn = (dir: string): Workplace => ({
  base: join(dir, 'base'),
  runsRoot: join(dir, 'base', 's'),
  defaultBase: false,
});

describe('claiming a job directory', () => {
  test('makes a private one with a minted name, and all that is above it', async ({ dir }) => {
    const job = await claimJobDir(placeIn(dir), 'r');
    expect(isJobId(basename(job))).toBe(true);
    expect(job).toBe(join(dir, 'base', 's', 'r', 'jobs', basename(job)));
    for (const path of ['base', 'base/s', 'base/s/r', 'base/s/r/jobs', `base/s/r/jobs/${basename(job)}`])
      expect(lstatSync(join(dir, path)).mode & 0o777, path).toBe(0o700);
    expect(readdirSync(job)).toEqual([]);
  });

  test('never gives one directory twice', async ({ dir }) => {
    const jobs = await Promise.all(Array.from({ length: 50 }, () => claimJobDir(placeIn(dir), 'r')));
    expect(new Set(jobs).size).toBe(50);
  });

  test('tries again with another name when one is taken, or when a sweep took the run away', async ({
    dir,
  }) => {
    for (const code of ['EEXIST', 'ENOENT']) {
      let refused = 0;
      disk.before = ({ name, args }) => {
        if (name === 'mkdirSync' && isJobId(basename(String(args[0]))) && refused++ < 3)
          throw systemError(code);
      };
      expect(existsSync(await claimJobDir(placeIn(dir), 'r'))).toBe(true);
      expect(refused).toBe(4);
    }
  });

  test('succeeds whenever the empty folders of run and skill are taken away meanwhile', async ({ dir }) => {
    const takeAway = (): void => {
      for (const level of ['base/s/r/jobs', 'base/s/r', 'base/s']) {
        try {
          rmdirSync(join(dir, level));
        } catch {
          // Not there yet, or not empty any more.
        }
      }
    };
    let steps = 0;
    for (let at = 1; at === 1 || steps >= at - 1; at += 1) {
      rmSync(join(dir, 'base'), { recursive: true, force: true });
      steps = 0;
      disk.before = () => {
        steps += 1;
        if (steps === at) takeAway();
      };
      expect(existsSync(await claimJobDir(placeIn(dir), 'r')), `step ${at}`).toBe(true);
      disk.before = undefined;
    }
    expect(steps).toBeGreaterThan(10);
  });

  test('gives up after so many tries, and says so', async ({ dir }) => {
    disk.before = ({ name, args }) => {
      if (name === 'mkdirSync' && isJobId(basename(String(args[0])))) throw systemError('EEXIST');
    };
    await expect(claimJobDir(placeIn(dir), 'r')).rejects.toThrowError(/after 16 attempts/);
  });

  test('tells a full disk with the place', async ({ dir }) => {
    disk.before = ({ name, args }) => {
      if (name === 'mkdirSync' && isJobId(basename(String(args[0])))) throw systemError('ENOSPC');
    };
    await expect(claimJobDir(placeIn(dir), 'r')).rejects.toThrowError(
      expect.objectContaining({
        kind: 'system',
        message: expect.stringContaining(join(dir, 'base', 's', 'r', 'jobs')),
      }),
    );
  });

  test.for(['base', 'base/s', 'base/s/r', 'base/s/r/jobs'])(
    'is refused where a link was planted at %s, and nothing is made behind it',
    async (level, { dir }) => {
      mkdirSync(join(dir, 'elsewhere'));
      mkdirSync(join(dir, level, '..'), { recursive: true, mode: 0o700 });
      symlinkSync(join(dir, 'elsewhere'), join(dir, level));
      await expect(claimJobDir(placeIn(dir), 'r')).rejects.toThrowError(RunnerError);
      expect(readdirSync(join(dir, 'elsewhere'))).toEqual([]);
    },
  );

  test.for(['base', 'base/s', 'base/s/r', 'base/s/r/jobs'])(
    'is refused where a file lies at %s',
    async (level, { dir }) => {
      mkdirSync(join(dir, level, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(join(dir, level), '');
      await expect(claimJobDir(placeIn(dir), 'r')).rejects.toThrowError(/is not a real directory/);
    },
  );
});

describe('a key', () => {
  const run = (dir: string): string => {
    mkdirSync(join(dir, 'r'), { mode: 0o700 });
    return join(dir, 'r');
  };
  const job = (runFolder: string, digit: number): string =>
    makeJob(runFolder, {}, `20261130T121741Z-0000000${digit}`);

  test('belongs to nobody at first, and then to the first job that takes it', async ({ dir }) => {
    const runFolder = run(dir);
    expect(await keyHolder(runFolder, 'k')).toBeUndefined();
    expect(await takeKey(job(runFolder, 1), 'k', undefined)).toBe(true);
    expect(await takeKey(job(runFolder, 2), 'k', undefined)).toBe(false);
    expect(await keyHolder(runFolder, 'k')).toEqual({ jobDir: job(runFolder, 1), number: 1 });
  });

  test('can be taken over from a holder that never came to run, by one', async ({ dir }) => {
    const runFolder = run(dir);
    await takeKey(job(runFolder, 1), 'k', undefined);
    const previous = await keyHolder(runFolder, 'k');
    expect(await takeKey(job(runFolder, 2), 'k', previous)).toBe(true);
    expect(await takeKey(job(runFolder, 3), 'k', previous)).toBe(false);
    expect(await keyHolder(runFolder, 'k')).toEqual({ jobDir: job(runFolder, 2), number: 2 });
  });

  test('counts its holders beyond nine', async ({ dir }) => {
    const runFolder = run(dir);
    for (let number = 1; number <= 11; number += 1)
      expect(await takeKey(job(runFolder, number % 10), 'k', await keyHolder(runFolder, 'k'))).toBe(true);
    expect((await keyHolder(runFolder, 'k'))?.number).toBe(11);
  });

  test('is one key whatever characters it has, and others are others', async ({ dir }) => {
    const runFolder = run(dir);
    const keys = ['k', 'K', 'k ', '../../x', 'a/b', 'é', '', '*', 'x'.repeat(5000), 'k-1'];
    for (const [index, key] of keys.entries()) {
      expect(await keyHolder(runFolder, key), key).toBeUndefined();
      expect(await takeKey(job(runFolder, index % 10), key, undefined)).toBe(true);
    }
    for (const [index, key] of keys.entries())
      expect((await keyHolder(runFolder, key))?.jobDir).toBe(job(runFolder, index % 10));
    expect(readdirSync(dir)).toEqual(['r']);
  });

  test('whose record does not name a job is refused, never followed', async ({ dir }) => {
    const runFolder = run(dir);
    await takeKey(job(runFolder, 1), 'k', undefined);
    const [name = ''] = readdirSync(join(runFolder, 'keys'));
    for (const text of ['', '../../../etc', 'x'.repeat(300)]) {
      writeFileSync(join(runFolder, 'keys', name), text);
      await expect(keyHolder(runFolder, 'k')).rejects.toThrowError(
        expect.objectContaining({ kind: 'refused' }),
      );
    }
    rmSync(join(runFolder, 'keys', name));
    symlinkSync('/etc/hostname', join(runFolder, 'keys', name));
    await expect(keyHolder(runFolder, 'k')).rejects.toThrowError(
      expect.objectContaining({ kind: 'refused' }),
    );
  });

  test('is not confused by a stray file beside its records', async ({ dir }) => {
    const runFolder = run(dir);
    await takeKey(job(runFolder, 1), 'k', undefined);
    const [name = ''] = readdirSync(join(runFolder, 'keys'));
    writeFileSync(join(runFolder, 'keys', `${name}~`), '');
    expect(await keyHolder(runFolder, 'k')).toEqual({ jobDir: job(runFolder, 1), number: 1 });
  });

  test('is not kept behind a link', async ({ dir }) => {
    const runFolder = run(dir);
    chmodSync(runFolder, 0o700);
    mkdirSync(join(dir, 'elsewhere'));
    symlinkSync(join(dir, 'elsewhere'), join(runFolder, 'keys'));
    await expect(takeKey(job(runFolder, 1), 'k', undefined)).rejects.toThrowError(RunnerError);
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual([]);
  });
});
