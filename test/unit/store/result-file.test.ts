import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { ResultEvidence } from '../../../runner-core/job/classify.ts';
import type { MetaRecord } from '../../../runner-core/job/records.ts';
import { baselineOf, digestOf, inspectResult } from '../../../runner-core/store/result-file.ts';
import { test } from './directory.ts';

const CAP = 100;

async function evidence(path: string, more: Partial<MetaRecord> = {}): Promise<ResultEvidence> {
  return inspectResult({ result_path: path, ...more }, CAP);
}

describe('the evidence of a result', () => {
  test('is none where none was declared', async () => {
    for (const meta of [undefined, {}, { result_path: null }, { result_path: '' }])
      expect(await inspectResult(meta, CAP)).toEqual({ kind: 'undeclared' });
  });

  test('is the size of a file with something in it, also beyond the cap', async ({ dir }) => {
    const path = join(dir, 'result');
    writeFileSync(path, 'x');
    expect(await evidence(path)).toEqual({ kind: 'present', bytes: 1 });
    writeFileSync(path, 'x'.repeat(101));
    expect(await evidence(path)).toEqual({ kind: 'present', bytes: 101 });
  });

  test('tells an empty file from an absent one', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), '');
    expect(await evidence(join(dir, 'result'))).toEqual({ kind: 'empty' });
    for (const path of ['absent', 'result/below', 'x'.repeat(300), 'a\0b'])
      expect(await evidence(join(dir, path)), path).toEqual({ kind: 'absent' });
  });

  test.for([
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
    ['a directory', (path: string) => mkdirSync(path)],
    [
      'a link to a file',
      (path: string) => {
        writeFileSync(`${path}.real`, 'x');
        symlinkSync(`${path}.real`, path);
      },
    ],
    ['a link to nothing', (path: string) => symlinkSync('/nonexistent', path)],
  ] as const)('does not take %s for a result, and does not wait for it', async ([, plant], { dir }) => {
    plant(join(dir, 'result'));
    expect(await evidence(join(dir, 'result'))).toEqual({ kind: 'not-regular' });
    expect(await evidence(join(dir, 'result'), { result_format: 'json' })).toEqual({ kind: 'not-regular' });
    expect(await digestOf(join(dir, 'result'), CAP)).toBeUndefined();
  });
});

describe('a result that lay there before the start', () => {
  test('and is unchanged is stale', async ({ dir }) => {
    const path = join(dir, 'result');
    writeFileSync(path, 'old');
    const baseline = baselineOf(path);
    expect(await evidence(path, { result_baseline: baseline })).toEqual({ kind: 'stale' });
  });

  test.for([
    ['written anew', (path: string) => writeFileSync(path, 'new')],
    ['added to', (path: string) => appendFileSync(path, '!')],
    [
      'replaced by a file of the same size and time',
      (path: string) => {
        writeFileSync(`${path}.new`, 'new');
        utimesSync(`${path}.new`, 1000, 1000);
        renameSync(`${path}.new`, path);
      },
    ],
    ['touched', (path: string) => utimesSync(path, 2000, 2000)],
  ] as const)('and was %s is this job’s', async ([, change], { dir }) => {
    const path = join(dir, 'result');
    writeFileSync(path, 'old');
    utimesSync(path, 1000, 1000);
    const baseline = baselineOf(path);
    change(path);
    expect((await evidence(path, { result_baseline: baseline })).kind).toBe('present');
  });

  test('and was removed is absent', async ({ dir }) => {
    const path = join(dir, 'result');
    writeFileSync(path, 'old');
    const baseline = baselineOf(path);
    rmSync(path);
    expect((await evidence(path, { result_baseline: baseline })).kind).toBe('absent');
  });

  test('is known to the nanosecond and the whole inode, as text', ({ dir }) => {
    writeFileSync(join(dir, 'result'), 'old');
    expect(baselineOf(join(dir, 'result'))).toEqual({
      dev: expect.stringMatching(/^\d+$/),
      ino: expect.stringMatching(/^\d+$/),
      size: '3',
      mtime_ns: expect.stringMatching(/^\d{18,}$/),
    });
  });

  test('is not there: nothing to compare with, also where the path leads nowhere', ({ dir }) => {
    writeFileSync(join(dir, 'file'), '');
    symlinkSync(join(dir, 'ring'), join(dir, 'ring'));
    for (const path of ['absent', 'file/below', 'ring/below', 'x'.repeat(300), 'no/such/folder'])
      expect(baselineOf(join(dir, path)), path).toBeUndefined();
  });
});

describe('a result that is to be JSON', () => {
  const json = { result_format: 'json' } as const;

  test('is one when it parses', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), '{"a": [1, 2]}\n');
    expect(await evidence(join(dir, 'result'), json)).toEqual({ kind: 'present', bytes: 14 });
  });

  test('is invalid when it is cut off, with the position', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), '{"a": [1, 2');
    expect(await evidence(join(dir, 'result'), json)).toEqual({
      kind: 'invalid',
      problem: expect.stringContaining('position 11'),
    });
  });

  test('is not parsed beyond its cap, which it has failed by already', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), `[${'x'.repeat(200)}`);
    expect((await evidence(join(dir, 'result'), json)).kind).toBe('present');
  });

  test('that is stale is stale, not invalid', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), 'oops');
    const baseline = baselineOf(join(dir, 'result'));
    expect((await evidence(join(dir, 'result'), { ...json, result_baseline: baseline })).kind).toBe('stale');
  });
});

describe('the digest', () => {
  test('is the SHA-256 of the bytes', async ({ dir }) => {
    const data = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(join(dir, 'result'), data);
    expect(await digestOf(join(dir, 'result'), 300_000)).toBe(
      createHash('sha256').update(data).digest('hex'),
    );
  });

  test('is given of no file beyond the cap, and of none that is gone', async ({ dir }) => {
    writeFileSync(join(dir, 'result'), 'x'.repeat(101));
    expect(await digestOf(join(dir, 'result'), CAP)).toBeUndefined();
    expect(await digestOf(join(dir, 'absent'), CAP)).toBeUndefined();
  });
});
