import {
  chmodSync,
  linkSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, vi } from 'vitest';
import { recalling } from '../../../runner-core/store/recall.ts';
import { test } from './directory.ts';

/** How the file system under test keeps times. */
let timeShown: (ms: number) => number;
const LONG_AGO_MS = 1_700_000_000_000.5;

// Linux since 6.13 gives two changes different times if anybody looked in between; no other system does.
vi.mock(import('../../../runner-core/store/look.ts'), async (original) => {
  const look = await original();
  return {
    ...look,
    statOf: (path) => {
      const stat = look.statOf(path);
      return (
        stat && Object.assign(stat, { ctimeMs: timeShown(stat.ctimeMs), mtimeMs: timeShown(stat.mtimeMs) })
      );
    },
  };
});

interface Watched {
  readonly path: string;
  look(): string | undefined;
  /** How often it was read since the last time that somebody asked. */
  reads(): number;
}

function fileIn(dir: string, text: string): Watched {
  const path = join(dir, 'file');
  writeFileSync(path, text);
  let reads = 0;
  const at = recalling((file) => {
    reads += 1;
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined;
    }
  });
  return {
    path,
    look: () => at(path),
    reads: () => {
      const count = reads;
      reads = 0;
      return count;
    },
  };
}

/** A file that was read when it had not been touched for long. */
function keptInMind(dir: string, text = 'one'): Watched {
  const file = fileIn(dir, text);
  vi.setSystemTime(Date.now() + 60_000);
  file.look();
  vi.useRealTimers();
  file.reads();
  return file;
}

beforeEach(() => {
  timeShown = (ms) => ms;
});

describe('a file that was read', () => {
  test('is not read again as long as nobody touches it', ({ dir }) => {
    const file = keptInMind(dir);
    expect([file.look(), file.look(), file.reads()]).toEqual(['one', 'one', 0]);
  });

  test.for<[string, (path: string) => void, string | undefined]>([
    ['written over', (path) => writeFileSync(path, 'two'), 'two'],
    ['replaced', (path) => replaceBy(path, 'two'), 'two'],
    ['removed', unlinkSync, undefined],
  ])('and %s since is read again', ([, change, expected], { dir }) => {
    const file = keptInMind(dir);
    change(file.path);
    expect(file.look()).toBe(expected);
  });

  test('and replaced by one of its size and age is read again', ({ dir }) => {
    timeShown = () => LONG_AGO_MS;
    const file = keptInMind(dir);
    replaceBy(file.path, 'two');
    expect(file.look()).toBe('two');
  });

  test.skipIf(process.platform === 'win32')('is not taken for what a link at its place names', ({ dir }) => {
    const file = keptInMind(dir);
    renameSync(file.path, `${file.path}.moved`);
    symlinkSync(`${file.path}.moved`, file.path);
    file.look();
    expect(file.reads()).toBe(1);
  });

  test.skipIf(process.platform === 'win32')('and has another mode since is read again', ({ dir }) => {
    const file = keptInMind(dir);
    chmodSync(file.path, 0o640);
    file.look();
    expect(file.reads()).toBe(1);
  });

  test('and is large is read again', ({ dir }) => {
    const file = keptInMind(dir, 'x'.repeat(5000));
    file.look();
    expect(file.reads()).toBe(1);
  });
});

test.for([
  ['ticks of 10 ms', 3, 10],
  ['whole seconds', 3, 1000],
  ['whole seconds', 150, 1000],
  ['every other second', 150, 2000],
  ['every other second', 1100, 2000],
] as const)(
  'no change is missed where times go by %s and changes come each %i ms',
  ([, apartMs, tickMs], { dir }) => {
    const file = fileIn(dir, '000');
    let nowMs = Date.now();
    for (let turn = 100; turn < 200; turn += 1) {
      const writtenMs = nowMs;
      timeShown = () => Math.floor(writtenMs / tickMs) * tickMs;
      writeFileSync(file.path, `${turn}`);
      nowMs += apartMs;
      vi.setSystemTime(nowMs);
      expect(file.look()).toBe(`${turn}`);
    }
    vi.useRealTimers();
  },
);

test('a failure is not kept in mind', ({ dir }) => {
  timeShown = () => LONG_AGO_MS;
  const path = join(dir, 'file');
  writeFileSync(path, 'one');
  let fails = true;
  const at = recalling(() => (fails ? undefined : 'read at last'));
  expect(at(path)).toBeUndefined();
  fails = false;
  expect(at(path)).toBe('read at last');
});

test('of thousands of files the one that was read longest ago is forgotten', ({ dir }) => {
  timeShown = () => LONG_AGO_MS;
  const read: string[] = [];
  const at = recalling((path) => {
    read.push(path);
    return path;
  });
  const paths = Array.from({ length: 4001 }, (_, at) => join(dir, `${at}`));
  writeFileSync(join(dir, 'file'), '');
  for (const path of paths) linkSync(join(dir, 'file'), path);
  for (const path of paths) at(path);
  read.length = 0;
  for (const path of [paths[4000], paths[1], paths[0]]) at(path ?? '');
  expect(read).toEqual([paths[0]]);
});

function replaceBy(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
