import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { geteuid } from 'node:process';
import { afterEach, describe, expect, vi } from 'vitest';
import {
  candidateBases,
  extraRunsRoots,
  runsRootsOf,
  workplaceFor,
} from '../../../runner-core/store/roots.ts';
import { FOREIGN_UID, isSuperuser, test } from './directory.ts';

const defaults = vi.hoisted(() => ({ bases: undefined as string[] | undefined }));
vi.mock('../../../runner-core/platform/index.ts', async (original) => {
  const { platform } = await original<typeof import('../../../runner-core/platform/index.ts')>();
  return {
    platform: {
      ...platform,
      defaultBases: (env: Record<string, string | undefined>) => defaults.bases ?? platform.defaultBases(env),
    },
  };
});
afterEach(() => {
  defaults.bases = undefined;
});

const own = `compound-engineering-${geteuid?.()}`;

describe('the base', () => {
  test('is the configured one alone', ({ dir }) => {
    const env = { CE_PEER_JOBS_ROOT: dir, TMPDIR: '/elsewhere' };
    expect(candidateBases(env)).toEqual([dir]);
    expect(workplaceFor(env, 's')).toEqual({ base: dir, runsRoot: join(dir, 's'), defaultBase: false });
    expect(runsRootsOf(env, 's')).toEqual([{ path: join(dir, 's'), skill: 's' }]);
  });

  test('that was configured relative or untidy is made absolute', () => {
    expect(candidateBases({ CE_PEER_JOBS_ROOT: 'jobs' })).toEqual([resolve('jobs')]);
    expect(candidateBases({ CE_PEER_JOBS_ROOT: '/a//b/../c/' })).toEqual(['/a/c']);
  });

  test('by default is in /tmp, then in TMPDIR, each once; an empty setting is none', () => {
    expect(candidateBases({ TMPDIR: '/var/t' })).toEqual([`/tmp/${own}`, `/var/t/${own}`]);
    expect(candidateBases({ CE_PEER_JOBS_ROOT: '', TMPDIR: '' })).toEqual([`/tmp/${own}`]);
    expect(candidateBases({ TMPDIR: '/tmp/' })).toEqual([`/tmp/${own}`]);
    expect(candidateBases({})).toEqual([`/tmp/${own}`]);
  });
});

describe('a new job by default', () => {
  test('is made in the first base that can be used, and says that it is ours by name', ({ dir }) => {
    defaults.bases = [join(dir, 'one'), join(dir, 'two')];
    expect(workplaceFor({}, 's')).toEqual({
      base: join(dir, 'one'),
      runsRoot: join(dir, 'one', 's'),
      defaultBase: true,
    });
  });

  test.for([
    ['cannot be made', (path: string) => rmSync(join(path, '..'), { recursive: true })],
    ['is a link', (path: string) => symlinkSync('/tmp', path)],
    ['is a file', (path: string) => writeFileSync(path, '')],
  ] as const)('falls back to the second base where the first %s', ([, spoil], { dir }) => {
    mkdirSync(join(dir, 'tmp'));
    defaults.bases = [join(dir, 'tmp', 'one'), join(dir, 'two')];
    spoil(join(dir, 'tmp', 'one'));
    expect(workplaceFor({}, 's').base).toBe(join(dir, 'two'));
    expect(candidateBases({})).toEqual(defaults.bases);
  });

  test.skipIf(!isSuperuser)(
    'falls back to the second base where the first belongs to another user',
    ({ dir }) => {
      defaults.bases = [join(dir, 'one'), join(dir, 'two')];
      mkdirSync(join(dir, 'one'));
      chownSync(join(dir, 'one'), FOREIGN_UID, FOREIGN_UID);
      expect(workplaceFor({}, 's').base).toBe(join(dir, 'two'));
    },
  );

  test('where no base can be used is made in the last one, so that the failure names it', ({ dir }) => {
    defaults.bases = [join(dir, 'no', 'one'), join(dir, 'no', 'two')];
    expect(workplaceFor({}, 's').base).toBe(join(dir, 'no', 'two'));
  });
});

describe('CE_WORK_RUNS_ROOT', () => {
  const env = { CE_WORK_RUNS_ROOT: '/srv/runs/', CE_PEER_JOBS_ROOT: '/base' };

  test('holds the runs of ce-work themselves', () => {
    expect(workplaceFor(env, 'ce-work')).toEqual({
      base: '/srv/runs',
      runsRoot: '/srv/runs',
      defaultBase: false,
    });
    expect(runsRootsOf(env, 'ce-work')).toEqual([{ path: '/srv/runs', skill: 'ce-work' }]);
    expect(extraRunsRoots(env)).toEqual([{ path: '/srv/runs', skill: 'ce-work' }]);
  });

  test('means nothing to another skill, and nothing when it is empty', () => {
    expect(workplaceFor(env, 'ce-review').runsRoot).toBe('/base/ce-review');
    expect(runsRootsOf(env, 'ce-review')).toEqual([{ path: '/base/ce-review', skill: 'ce-review' }]);
    expect(extraRunsRoots({ CE_WORK_RUNS_ROOT: '' })).toEqual([]);
    expect(workplaceFor({ ...env, CE_WORK_RUNS_ROOT: '' }, 'ce-work').runsRoot).toBe('/base/ce-work');
  });
});
