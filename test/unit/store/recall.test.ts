import { chmodSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { statOf } from '../../../runner-core/store/look.ts';
import { recalled } from '../../../runner-core/store/recall.ts';
import { eventually } from '../../support/eventually.ts';
import { test } from './directory.ts';

const TICK_MS = 50;
const ticked = (ms: number): number => Math.floor(ms / TICK_MS) * TICK_MS;

// Linux since 6.13 gives two looked-at changes different times; every other system goes by its ticks, and this is a slow one.
vi.mock(import('../../../runner-core/store/look.ts'), async (original) => {
  const look = await original();
  return {
    ...look,
    statOf: (path) => {
      const stat = look.statOf(path);
      return stat && Object.assign(stat, { ctimeMs: ticked(stat.ctimeMs), mtimeMs: ticked(stat.mtimeMs) });
    },
  };
});

interface Watched {
  readonly path: string;
  look(): string | undefined;
  reads(): number;
}

function fileIn(dir: string, text: string): Watched {
  const path = join(dir, 'file');
  writeFileSync(path, text);
  let reads = 0;
  return {
    path,
    look: () =>
      recalled(path, () => {
        reads += 1;
        return statOf(path) && readFileSync(path, 'utf8');
      }),
    reads: () => reads,
  };
}

/** A file that is old enough to be kept in mind: looking again reads nothing. */
async function keptInMind(dir: string): Promise<Watched> {
  const file = fileIn(dir, 'one');
  await eventually(() => {
    file.look();
    const before = file.reads();
    file.look();
    return file.reads() === before;
  });
  return file;
}

test('a file that nobody touches is read once', async ({ dir }) => {
  const file = await keptInMind(dir);
  const before = file.reads();
  expect([file.look(), file.look(), file.reads()]).toEqual(['one', 'one', before]);
});

test('no change is missed, however soon it follows on the last and however alike it is', ({ dir }) => {
  const file = fileIn(dir, '000');
  for (let turn = 100; turn < 400; turn += 1) {
    writeFileSync(file.path, `${turn}`);
    expect(file.look()).toBe(`${turn}`);
  }
});

test.for<[string, (path: string) => void, string | undefined]>([
  ['written over', (path) => writeFileSync(path, 'two'), 'two'],
  [
    'replaced',
    (path) => {
      writeFileSync(`${path}.new`, 'two');
      renameSync(`${path}.new`, path);
    },
    'two',
  ],
  ['removed', unlinkSync, undefined],
])('one that was %s is read again', async ([, change, expected], { dir }) => {
  const file = await keptInMind(dir);
  change(file.path);
  expect(file.look()).toBe(expected);
});

test.skipIf(process.platform === 'win32')(
  'a link to what is kept in mind is not taken for it',
  async ({ dir }) => {
    const file = await keptInMind(dir);
    renameSync(file.path, `${file.path}.moved`);
    symlinkSync(`${file.path}.moved`, file.path);
    const before = file.reads();
    file.look();
    expect(file.reads()).toBe(before + 1);
  },
);

test.skipIf(process.platform === 'win32')('one whose mode has changed is read again', async ({ dir }) => {
  const file = await keptInMind(dir);
  chmodSync(file.path, 0o644);
  const before = file.reads();
  file.look();
  expect(file.reads()).toBe(before + 1);
});

test('a failure is not kept in mind', async ({ dir }) => {
  const { path } = await keptInMind(dir);
  chmodSync(path, 0o400);
  expect(recalled(path, () => undefined)).toBeUndefined();
  expect(recalled(path, () => 'read at last')).toBe('read at last');
});
