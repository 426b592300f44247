import {
  chownSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type IsLive, sweepRuns } from '../../../runner-core/store/sweep.ts';
import { age, FOREIGN_UID, isSuperuser, JOB_ID, makeJob, test } from './directory.ts';

const nobodyLives: IsLive = async () => false;
const everybodyLives: IsLive = async () => true;
const LATER = Number.POSITIVE_INFINITY;

/** Makes a run with one job, everything of it so many hours old, and gives its folder. */
function makeRun(
  dir: string,
  runId: string,
  hours: number,
  files: Readonly<Record<string, string | object>> = { 'meta.json': {}, pid: {}, status: 'done\n' },
): string {
  const folder = join(dir, runId);
  makeJob(folder, files);
  ageAll(folder, hours);
  return folder;
}

function ageAll(path: string, hours: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) ageAll(join(path, entry.name), hours);
    else if (entry.isFile()) age(join(path, entry.name), hours);
  }
  age(path, hours);
}

describe('a sweep', () => {
  test('removes runs in which nothing happened for a day, and leaves nothing of them', async ({ dir }) => {
    makeRun(dir, 'old', 25);
    makeRun(dir, 'older', 1000);
    makeRun(dir, 'young', 23);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual(['young']);
  });

  test('leaves the run of the start itself, however old', async ({ dir }) => {
    makeRun(dir, 'mine', 1000);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual(['mine']);
  });

  test.for(['meta.json', 'pid', 'status', 'out.log', 'reason'])(
    'leaves a run with a younger record: %s',
    async (file, { dir }) => {
      const folder = makeRun(dir, 'old', 30);
      writeFileSync(join(folder, 'jobs', JOB_ID, file), 'done\n');
      age(join(folder, 'jobs', JOB_ID), 30);
      age(folder, 30);
      await sweepRuns(dir, 'mine', LATER, nobodyLives);
      expect(existsSync(join(folder, 'jobs', JOB_ID))).toBe(true);
    },
  );

  test('leaves an old run into which a start comes right now, before it has written anything', async ({
    dir,
  }) => {
    const folder = makeRun(dir, 'old', 30);
    mkdirSync(join(folder, 'jobs', '20261130T121741Z-ffffffff'));
    age(join(folder, 'jobs'), 30);
    age(folder, 30);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(existsSync(join(folder, 'jobs', '20261130T121741Z-ffffffff'))).toBe(true);
  });

  test('goes by the run itself and the records of its jobs, not by what else lies in it', async ({ dir }) => {
    const folder = makeRun(dir, 'old', 30);
    writeFileSync(join(folder, 'plan.md'), '');
    age(folder, 30);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(existsSync(folder)).toBe(false);
  });

  test.for([
    ['running', {}],
    ['with an empty status', { status: '' }],
    ['with a torn status', { status: 'do' }],
  ] as const)('leaves an old run with a live job, %s', async ([, files], { dir }) => {
    makeRun(dir, 'old', 1000, { 'meta.json': {}, pid: {}, ...files });
    await sweepRuns(dir, 'mine', LATER, everybodyLives);
    expect(readdirSync(dir)).toEqual(['old']);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('asks for no job that is settled', async ({ dir }) => {
    makeRun(dir, 'old', 30);
    await sweepRuns(dir, 'mine', LATER, async () => {
      throw new Error('asked');
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('gives a run back in which something lives by the time it was moved aside', async ({ dir }) => {
    makeRun(dir, 'old', 30, { 'meta.json': {}, pid: {} });
    let asked = 0;
    await sweepRuns(dir, 'mine', LATER, async () => ++asked > 1);
    expect(readdirSync(dir)).toEqual(['old']);
    expect(asked).toBe(2);
  });

  test('never follows a link, and removes none', async ({ dir }) => {
    const precious = makeRun(dir, 'precious', 1000);
    mkdirSync(join(dir, 'runs'));
    symlinkSync(precious, join(dir, 'runs', 'link'));
    const folder = makeRun(join(dir, 'runs'), 'old', 1000);
    symlinkSync(precious, join(folder, 'link'));
    symlinkSync(precious, join(folder, 'jobs', 'link'));
    for (const path of [join(folder, 'link'), join(folder, 'jobs', 'link')])
      lutimesSync(path, new Date(0), new Date(0));
    ageAll(folder, 1000);
    await sweepRuns(join(dir, 'runs'), 'mine', LATER, nobodyLives);
    expect(readdirSync(join(dir, 'runs'))).toEqual(['link']);
    expect(existsSync(join(precious, 'jobs', JOB_ID, 'status'))).toBe(true);
  });

  test('passes over files, and a place that is not there', async ({ dir }) => {
    writeFileSync(join(dir, 'notes.txt'), '');
    age(join(dir, 'notes.txt'), 1000);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    await sweepRuns(join(dir, 'absent'), 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual(['notes.txt']);
  });

  test.skipIf(!isSuperuser)('leaves the folder of another user', async ({ dir }) => {
    const folder = makeRun(dir, 'old', 1000);
    chownSync(folder, FOREIGN_UID, FOREIGN_UID);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual(['old']);
  });

  test('removes one run even without time, and no more', async ({ dir }) => {
    for (const run of ['a', 'b', 'c']) makeRun(dir, run, 1000);
    expect(await sweepRuns(dir, 'mine', performance.now() - 1, nobodyLives)).toBe(false);
    expect(readdirSync(dir)).toHaveLength(2);
  });

  test('does not look at all of many young runs without time', async ({ dir }) => {
    for (let run = 0; run < 20; run += 1) makeRun(dir, `young-${run}`, 1);
    expect(await sweepRuns(dir, 'mine', performance.now() - 1, nobodyLives)).toBe(false);
  });

  test('goes on past a run that it cannot judge, and never throws', async ({ dir }) => {
    makeRun(dir, 'a', 1000, { pid: {} });
    makeRun(dir, 'b', 1000);
    await sweepRuns(dir, 'mine', LATER, async () => {
      throw new Error('no process table');
    });
    expect(readdirSync(dir)).toEqual(['a']);
  });

  test('beside another one removes each run once, and fails nobody', async ({ dir }) => {
    for (let run = 0; run < 12; run += 1) makeRun(dir, `run-${run}`, 1000);
    await Promise.all([1, 2, 3].map(() => sweepRuns(dir, 'mine', LATER, nobodyLives)));
    expect(readdirSync(dir)).toEqual([]);
  });

  test('takes along what an earlier one left behind', async ({ dir }) => {
    makeRun(dir, '.sweep-0a1b2c3d', 30);
    await sweepRuns(dir, 'mine', LATER, nobodyLives);
    expect(readdirSync(dir)).toEqual([]);
  });
});
