import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import { assertOwnedDir, ensurePrivateTree, isUsableBase } from '../../../runner-core/store/private-dir.ts';
import { FOREIGN_UID, isSuperuser, JOB_ID, test } from './directory.ts';

const home = vi.hoisted(() => ({ path: '/nonexistent/home' }));
vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  homedir: () => home.path,
}));
afterEach(() => {
  home.path = '/nonexistent/home';
});

const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;
const configured = { defaultBase: false };

/** Makes the folders and (for names that end without a slash) files below `base`, which gets `mode` at the end. */
function lay(base: string, names: readonly string[], mode: number): string {
  mkdirSync(base);
  for (const name of names) {
    if (name.endsWith('/')) mkdirSync(join(base, name), { recursive: true });
    else {
      mkdirSync(join(base, name, '..'), { recursive: true });
      writeFileSync(join(base, name), '');
    }
  }
  chmodSync(base, mode);
  return base;
}

function makeBase(base: string, options = configured): void {
  ensurePrivateTree(base, join(base, 's', 'r', 'jobs'), options);
}

function expectRefused(base: string): void {
  const before = modeOf(base);
  expect(() => makeBase(base)).toThrowError(
    expect.objectContaining({
      kind: 'invalid',
      message: expect.stringContaining('refusing to make it a jobs root'),
    }),
  );
  expect(modeOf(base)).toBe(before);
  expect(existsSync(join(base, 's'))).toBe(false);
}

describe('a base', () => {
  test('that is missing is made private, with everything below it, whatever the umask', ({ dir }) => {
    const before = process.umask(0o022);
    try {
      makeBase(join(dir, 'base'));
    } finally {
      process.umask(before);
    }
    for (const path of ['base', 'base/s', 'base/s/r', 'base/s/r/jobs'])
      expect(modeOf(join(dir, path))).toBe(0o700);
  });

  test('whose parent is missing is a failure that names it', ({ dir }) => {
    expect(() => makeBase(join(dir, 'a', 'base'))).toThrowError(
      expect.objectContaining({ kind: 'system', message: expect.stringContaining(join(dir, 'a', 'base')) }),
    );
  });

  test.for([0o755, 0o777, 0o1777, 0o2700, 0o750, 0o500])(
    'that is empty is repaired to 0700 from %o',
    (mode, { dir }) => {
      const base = lay(join(dir, 'base'), [], mode);
      makeBase(base);
      expect(modeOf(base)).toBe(0o700);
    },
  );

  test.for([
    ['job trees', [`s/r/jobs/${JOB_ID}/meta.json`]],
    ['job trees of a runs root', [`r/jobs/${JOB_ID}/meta.json`]],
    ['job trees, and the remains of a sweep', [`s/r/jobs/${JOB_ID}/status`, '.sweep-0a1b2c3d/']],
    ['job trees, and what a file browser left', [`s/r/jobs/${JOB_ID}/status`, '.DS_Store']],
    ['only empty folders', ['ce-review/', 'ce-work/']],
  ] as const)('that holds %s is repaired to 0700', ([, names], { dir }) => {
    const base = lay(join(dir, 'base'), names, 0o755);
    makeBase(base);
    expect(modeOf(base)).toBe(0o700);
  });

  test.for([
    ['a file', ['notes.txt']],
    ['a hidden file', ['.profile']],
    ['a folder with files', ['src/main.ts']],
    ['folders that happen to be called jobs', ['app/jobs/mailer.rb', 'shop/app/jobs/mailer.rb']],
    ['an empty folder whose name no skill can have', ['My Documents/']],
  ] as const)('that is open and holds %s is refused, and nothing of it is touched', ([, names], { dir }) => {
    expectRefused(lay(join(dir, 'base'), names, 0o755));
  });

  test('that is private already may hold scratch files, but not what looks like a home', ({ dir }) => {
    makeBase(lay(join(dir, 'scratch'), ['notes.txt', 'src/main.ts'], 0o700));
    expectRefused(lay(join(dir, 'home'), ['.bashrc', 'notes.txt'], 0o700));
  });

  test('in which another start sweeps its last run right now is not taken for a home', ({ dir }) => {
    makeBase(lay(join(dir, 'base'), ['.sweep-0a1b2c3d/'], 0o700));
  });

  test("that is somebody's home, or above it, is refused and never made private, also with jobs in it", ({
    dir,
  }) => {
    home.path = join(dir, 'home');
    expectRefused(lay(home.path, ['notes.txt', `ce-review/r/jobs/${JOB_ID}/status`], 0o755));
    home.path = join(dir, 'users', 'me');
    expectRefused(lay(join(dir, 'users'), ['me/', `ce-review/r/jobs/${JOB_ID}/status`], 0o755));
  });

  test('that is a home by another name is refused too', ({ dir }) => {
    mkdirSync(join(dir, 'users'));
    symlinkSync(join(dir, 'users'), join(dir, 'link'));
    home.path = join(dir, 'link', 'me');
    expectRefused(lay(join(dir, 'users', 'me'), ['notes.txt'], 0o700));
  });

  test('beside a home is not mistaken for it', ({ dir }) => {
    home.path = join(dir, 'base-of-me');
    makeBase(lay(join(dir, 'base'), ['notes.txt'], 0o700));
  });

  test('that is the default is ours by name: repaired whatever lies in it', ({ dir }) => {
    const base = lay(join(dir, 'base'), ['notes.txt', '.hidden', 'scratch/plan.md'], 0o755);
    makeBase(base, { defaultBase: true });
    expect(modeOf(base)).toBe(0o700);
  });

  test.skipIf(!isSuperuser)(
    'of another user is refused and never touched, also the default one',
    ({ dir }) => {
      for (const defaultBase of [true, false]) {
        const base = lay(join(dir, `base-${defaultBase}`), [], 0o755);
        chownSync(base, FOREIGN_UID, FOREIGN_UID);
        expect(() => makeBase(base, { defaultBase })).toThrowError(/not owned by the current user/);
        expect(modeOf(base)).toBe(0o755);
      }
    },
  );

  test('below a link of the system is fine; a link itself aborts', ({ dir }) => {
    mkdirSync(join(dir, 'private'));
    symlinkSync(join(dir, 'private'), join(dir, 'tmp'));
    makeBase(join(dir, 'tmp', 'base'));
    expect(modeOf(join(dir, 'private', 'base'))).toBe(0o700);
    symlinkSync(join(dir, 'private'), join(dir, 'base'));
    for (const defaultBase of [true, false])
      expect(() => makeBase(join(dir, 'base'), { defaultBase })).toThrowError(/not a real directory/);
  });
});

describe('below the base', () => {
  test.skipIf(!isSuperuser)('a folder of another user aborts', ({ dir }) => {
    const base = lay(join(dir, 'base'), ['s/r/'], 0o700);
    chownSync(join(base, 's', 'r'), FOREIGN_UID, FOREIGN_UID);
    expect(() => makeBase(base)).toThrowError(/not owned by the current user/);
    expect(existsSync(join(base, 's', 'r', 'jobs'))).toBe(false);
  });

  test('a link is never entered', ({ dir }) => {
    const base = lay(join(dir, 'base'), ['s/'], 0o700);
    mkdirSync(join(dir, 'elsewhere'));
    symlinkSync(join(dir, 'elsewhere'), join(base, 's', 'r'));
    expect(() => makeBase(base)).toThrowError(RunnerError);
    expect(existsSync(join(dir, 'elsewhere', 'jobs'))).toBe(false);
  });
});

test('a directory of the user is one; a link to it, a file and nothing are not', ({ dir }) => {
  mkdirSync(join(dir, 'd'));
  symlinkSync(join(dir, 'd'), join(dir, 'link'));
  writeFileSync(join(dir, 'file'), '');
  assertOwnedDir(join(dir, 'd'));
  for (const name of ['link', 'file', 'absent']) expect(() => assertOwnedDir(join(dir, name))).toThrowError();
});

describe('whether a base can be used', () => {
  test('is told by making it, by whose it is, and by whether it can be written to', ({ dir }) => {
    expect(isUsableBase(join(dir, 'new'), () => true)).toBe(true);
    expect(modeOf(join(dir, 'new'))).toBe(0o700);
    expect(isUsableBase(join(dir, 'new'), () => false)).toBe(false);
    symlinkSync(join(dir, 'new'), join(dir, 'link'));
    writeFileSync(join(dir, 'file'), '');
    for (const name of ['link', 'file', 'no/where'])
      expect(isUsableBase(join(dir, name), () => true)).toBe(false);
  });
});
