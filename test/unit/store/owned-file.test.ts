import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, vi } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import {
  claimFile,
  createExclusive,
  lstatIfAny,
  readOwned,
  readOwnedPage,
  removeEmptyDir,
  removeJobDir,
  replaceFile,
  unlinkQuietly,
  withOwnedFile,
} from '../../../runner-core/store/owned-file.ts';
import { FOREIGN_UID, isSuperuser, test } from './directory.ts';
import { disk, systemError } from './interposed-fs.ts';

vi.mock('node:fs', async (original) => (await import('./interposed-fs.ts')).interpose(original));
afterEach(() => {
  disk.before = undefined;
});

/** Has link(2) fail from now on. */
function refuseLinks(code: string): void {
  disk.before = ({ name }) => {
    if (name === 'linkSync') throw systemError(code);
  };
}

function refusalOf(read: () => unknown): RunnerError {
  try {
    read();
  } catch (error) {
    if (error instanceof RunnerError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('reading a file of the user', () => {
  test('gives its bytes exactly, for any bytes', ({ dir }) => {
    const path = join(dir, 'f');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (data) => {
        writeFileSync(path, data);
        expect(Buffer.compare(readOwned(path, 5000), Buffer.from(data))).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test('gives also what is longer than one read', ({ dir }) => {
    const data = Buffer.from(Array.from({ length: 200_001 }, (_, index) => index % 251));
    writeFileSync(join(dir, 'f'), data);
    expect(readOwned(join(dir, 'f'), 300_000).equals(data)).toBe(true);
  });

  test('is refused past the cap, and not at it', ({ dir }) => {
    writeFileSync(join(dir, 'f'), 'x'.repeat(10));
    expect(readOwned(join(dir, 'f'), 10)).toHaveLength(10);
    const error = refusalOf(() => readOwned(join(dir, 'f'), 9));
    expect(error.kind).toBe('refused');
    expect(error.message).toContain('exceed the cap of 9 bytes');
  });

  test('is refused for a file that is longer than the size it tells, as in /proc', () => {
    // Its size is 0; only reading shows how much there is.
    expect(statSync('/proc/self/status').size).toBe(0);
    expect(refusalOf(() => readOwned('/proc/self/status', 100)).message).toContain('exceed the cap');
  });

  test.for([
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
    ['a directory', (path: string) => mkdirSync(path)],
    [
      'a link to a file',
      (path: string) => {
        writeFileSync(`${path}.real`, 'secret');
        symlinkSync(`${path}.real`, path);
      },
    ],
    ['a link to nothing', (path: string) => symlinkSync('/nonexistent', path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
  ] as const)('is refused at once, never waited for: %s', ([, plant], { dir }) => {
    plant(join(dir, 'f'));
    const before = performance.now();
    const error = refusalOf(() => readOwned(join(dir, 'f'), 1000));
    expect(error.kind).toBe('refused');
    expect(error.message).not.toContain('secret');
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('is refused for a device', () => {
    expect(refusalOf(() => readOwned('/dev/zero', 1000)).kind).toBe('refused');
  });

  test('is refused for a socket', async ({ dir }) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(dir, 'f'), resolve));
    try {
      expect(refusalOf(() => readOwned(join(dir, 'f'), 1000)).kind).toBe('refused');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test.skipIf(!isSuperuser)('is refused for a file of another user', ({ dir }) => {
    writeFileSync(join(dir, 'f'), 'secret');
    chownSync(join(dir, 'f'), FOREIGN_UID, FOREIGN_UID);
    expect(refusalOf(() => readOwned(join(dir, 'f'), 1000)).message).toContain(
      'not owned by the current user',
    );
  });

  test('tells an absent file by the error of the system, and a path through a file as refused', ({ dir }) => {
    expect(() => readOwned(join(dir, 'f'), 1000)).toThrowError(/ENOENT/);
    writeFileSync(join(dir, 'f'), '');
    expect(refusalOf(() => readOwned(join(dir, 'f', 'g'), 1000)).kind).toBe('refused');
    expect(refusalOf(() => readOwned(join(dir, 'x'.repeat(300)), 1000)).kind).toBe('refused');
  });

  test('leaves no descriptor open, also after a refusal', ({ dir }) => {
    const open = () => readdirSync('/proc/self/fd').length;
    writeFileSync(join(dir, 'f'), 'x'.repeat(10));
    mkdirSync(join(dir, 'd'));
    const before = open();
    for (let round = 0; round < 20; round += 1) {
      readOwned(join(dir, 'f'), 10);
      refusalOf(() => readOwned(join(dir, 'f'), 1));
      refusalOf(() => readOwned(join(dir, 'd'), 1));
      expect(() =>
        withOwnedFile(join(dir, 'f'), () => {
          throw new Error('mine');
        }),
      ).toThrowError('mine');
    }
    expect(open()).toBe(before);
  });
});

describe('a page of a file', () => {
  test('is what lies there, for any place and size', ({ dir }) => {
    const path = join(dir, 'f');
    const data = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
    writeFileSync(path, data);
    fc.assert(
      fc.property(fc.nat(1200), fc.integer({ min: 1, max: 1200 }), (offset, maxBytes) => {
        const page = readOwnedPage(path, offset, maxBytes);
        expect(page.totalBytes).toBe(1000);
        expect(page.data.equals(data.subarray(offset, offset + maxBytes))).toBe(true);
      }),
    );
  });

  test('is refused as a whole file is', ({ dir }) => {
    mkdirSync(join(dir, 'f'));
    expect(refusalOf(() => readOwnedPage(join(dir, 'f'), 0, 1)).kind).toBe('refused');
  });
});

describe('a new file', () => {
  test('is private, holds what was given, and is never put over another', ({ dir }) => {
    createExclusive(join(dir, 'f'), 'one');
    expect(lstatSync(join(dir, 'f')).mode & 0o777).toBe(0o600);
    expect(() => createExclusive(join(dir, 'f'), 'two')).toThrowError(/EEXIST/);
    expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('one');
  });

  test('is not made through a link', ({ dir }) => {
    symlinkSync(join(dir, 'target'), join(dir, 'f'));
    expect(() => createExclusive(join(dir, 'f'), 'x')).toThrowError(/EEXIST/);
    expect(readdirSync(dir)).toEqual(['f']);
  });
});

describe('replacing a file', () => {
  test('leaves the new content, private, and nothing beside it', ({ dir }) => {
    writeFileSync(join(dir, 'f'), 'old', { mode: 0o644 });
    for (const durable of [false, true]) {
      replaceFile(join(dir, 'f'), `new ${durable}`, { durable });
      expect(readFileSync(join(dir, 'f'), 'utf8')).toBe(`new ${durable}`);
    }
    expect(lstatSync(join(dir, 'f')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['f']);
  });

  test('replaces a link itself, and what it points to stays', ({ dir }) => {
    writeFileSync(join(dir, 'target'), 'precious');
    symlinkSync(join(dir, 'target'), join(dir, 'f'));
    replaceFile(join(dir, 'f'), 'new', { durable: false });
    expect(lstatSync(join(dir, 'f')).isFile()).toBe(true);
    expect(readFileSync(join(dir, 'target'), 'utf8')).toBe('precious');
  });

  test('that fails leaves the old one, and nothing beside it', ({ dir }) => {
    mkdirSync(join(dir, 'f', 'full'), { recursive: true });
    expect(() => replaceFile(join(dir, 'f'), 'new', { durable: false })).toThrowError();
    expect(readdirSync(dir)).toEqual(['f']);
  });

  test('leaves other names of the old file alone', ({ dir }) => {
    writeFileSync(join(dir, 'f'), 'old');
    linkSync(join(dir, 'f'), join(dir, 'other'));
    replaceFile(join(dir, 'f'), 'new', { durable: false });
    expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('old');
  });
});

describe('claiming a name', () => {
  test('succeeds once, complete with its content, and leaves nothing beside it', ({ dir }) => {
    claimFile(join(dir, 'f'), 'mine');
    expect(() => claimFile(join(dir, 'f'), 'too late')).toThrowError(/EEXIST/);
    expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('mine');
    expect(readdirSync(dir)).toEqual(['f']);
  });

  test.for(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])(
    'succeeds once also where the file system knows no hard links (%s)',
    (code, { dir }) => {
      refuseLinks(code);
      claimFile(join(dir, 'f'), 'mine');
      expect(() => claimFile(join(dir, 'f'), 'too late')).toThrowError(/EEXIST/);
      expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('mine');
      expect(readdirSync(dir)).toEqual(['f']);
    },
  );

  test('passes on what else the disk says', ({ dir }) => {
    refuseLinks('EIO');
    expect(() => claimFile(join(dir, 'f'), 'mine')).toThrowError(/EIO/);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('removing', () => {
  test('takes a job directory with all that is in it, and follows no link', ({ dir }) => {
    mkdirSync(join(dir, 'elsewhere'));
    writeFileSync(join(dir, 'elsewhere', 'precious'), '');
    mkdirSync(join(dir, 'job'));
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'job', 'link'));
    removeJobDir(join(dir, 'job'));
    expect(readdirSync(dir)).toEqual(['elsewhere']);
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual(['precious']);
  });

  test('takes back a claimed directory only while it is empty', ({ dir }) => {
    mkdirSync(join(dir, 'empty'));
    mkdirSync(join(dir, 'used'));
    appendFileSync(join(dir, 'used', 'x'), '');
    removeEmptyDir(join(dir, 'empty'));
    removeEmptyDir(join(dir, 'used'));
    removeEmptyDir(join(dir, 'never was'));
    expect(readdirSync(dir)).toEqual(['used']);
  });

  test('of a file that is gone is no failure', ({ dir }) => {
    unlinkQuietly(join(dir, 'never was'));
  });
});

describe('looking at what may be there', () => {
  test('tells nothing of what is absent, also below a file', ({ dir }) => {
    writeFileSync(join(dir, 'f'), '');
    expect(lstatIfAny(join(dir, 'g'))).toBeUndefined();
    expect(lstatIfAny(join(dir, 'f', 'g'))).toBeUndefined();
  });

  test('looks at a link itself', ({ dir }) => {
    symlinkSync('/nonexistent', join(dir, 'f'));
    expect(lstatIfAny(join(dir, 'f'))?.isSymbolicLink()).toBe(true);
  });
});
