import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import { assertExecutableFormat, resolvePosixWorker } from '../../../runner-core/platform/posix-launch.ts';
import { test } from '../store/directory.ts';

function program(path: string, mode = 0o755): string {
  writeFileSync(path, '#!/bin/sh\n', { mode });
  chmodSync(path, mode);
  return path;
}

function problemOf(argv: readonly string[], cwd: string, env: Record<string, string> = {}): string {
  try {
    resolvePosixWorker(argv, cwd, env);
  } catch (error) {
    if (error instanceof RunnerError) {
      expect(error.kind).toBe('preflight');
      return error.message;
    }
    throw error;
  }
  throw new Error(`${argv[0]} was found`);
}

describe('a program without a slash', () => {
  test('is the first of its name in the PATH of the worker that can be executed', ({ dir }) => {
    for (const name of ['a', 'b', 'c', 'd']) mkdirSync(join(dir, name));
    program(join(dir, 'a', 'tool'), 0o644);
    mkdirSync(join(dir, 'b', 'tool'));
    const found = program(join(dir, 'c', 'tool'));
    program(join(dir, 'd', 'tool'));
    const PATH = ['nowhere', 'a', 'b', 'c', 'd'].map((name) => join(dir, name)).join(':');
    expect(resolvePosixWorker(['tool', 'x', ''], '/', { PATH })).toEqual([found, 'x', '']);
  });

  test('is looked for from the folder of the worker where PATH names a relative or empty place', ({
    dir,
  }) => {
    mkdirSync(join(dir, 'bin'));
    program(join(dir, 'bin', 'tool'));
    program(join(dir, 'here'));
    expect(resolvePosixWorker(['tool'], dir, { PATH: 'bin' })).toEqual([join(dir, 'bin', 'tool')]);
    expect(resolvePosixWorker(['here'], dir, { PATH: '/nowhere::' })).toEqual([join(dir, 'here')]);
  });

  test('is looked for further where PATH names a folder that cannot be entered', ({ dir }) => {
    const found = program(join(dir, 'tool'));
    // For root too, unlike one that is closed.
    symlinkSync('loop', join(dir, 'loop'));
    expect(resolvePosixWorker(['tool'], dir, { PATH: `${join(dir, 'loop')}:${dir}` })).toEqual([found]);
  });

  test('is not looked for beside the worker otherwise', ({ dir }) => {
    program(join(dir, 'tool'));
    expect(problemOf(['tool'], dir, { PATH: '/nowhere' })).toContain('was not found on PATH');
  });

  test('is found where the system keeps its own when there is no PATH', () => {
    expect(resolvePosixWorker(['sh'], '/', {})[0]).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  test('that is nowhere is named, with what to do', ({ dir }) => {
    expect(problemOf(['no-such-tool'], dir, { PATH: dir })).toBe(
      'worker "no-such-tool" was not found on PATH; give its absolute path or install it',
    );
    expect(problemOf([''], dir, { PATH: dir })).toContain('worker "" was not found on PATH');
    expect(problemOf([], dir, { PATH: dir })).toContain('worker ""');
    expect(problemOf(['..'], dir, { PATH: dir })).toContain('was not found on PATH');
  });
});

describe('a program with a slash', () => {
  test('is taken from the folder of the worker, and PATH is not asked', ({ dir }) => {
    mkdirSync(join(dir, 'sub'));
    const tool = program(join(dir, 'sub', 'tool'));
    for (const name of ['sub/tool', './sub/tool', '../sub/../sub/tool', tool])
      expect(
        resolvePosixWorker([name, '--x'], name.startsWith('..') ? join(dir, 'sub') : dir, {
          PATH: '/nowhere',
        }),
      ).toEqual([tool, '--x']);
  });

  test('may be a link to a program', ({ dir }) => {
    symlinkSync(program(join(dir, 'tool')), join(dir, 'link'));
    expect(resolvePosixWorker(['./link'], dir, {})).toEqual([join(dir, 'link')]);
  });

  test('that is absent, a directory, or a link to nothing is refused', ({ dir }) => {
    symlinkSync('/nonexistent', join(dir, 'link'));
    for (const name of ['./absent', './', `${dir}/`, './link', './absent/below'])
      expect(problemOf([name], dir), name).toContain('does not exist or is not a regular file');
  });

  test('that is not executable is refused, with what to do', ({ dir }) => {
    program(join(dir, 'tool'), 0o644);
    expect(problemOf(['./tool'], dir)).toContain(
      'is not executable; chmod +x it or name its interpreter first',
    );
  });
});

describe('the format of a program', () => {
  test.for([
    ['a script with its interpreter', Buffer.from('#!/bin/sh\nexit 0\n')],
    ['an ELF file', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0])],
    ['a Mach-O file', Buffer.from([0xcf, 0xfa, 0xed, 0xfe, 0x07, 0x00, 0x00, 0x01])],
  ] as const)('is fine for %s', ([, data], { dir }) => {
    writeFileSync(join(dir, 'tool'), data, { mode: 0o755 });
    assertExecutableFormat(join(dir, 'tool'));
  });

  test('of the very node that runs this is fine', () => {
    assertExecutableFormat(process.execPath);
  });

  test.for([
    ['text without an interpreter line, which a shell would run', 'echo hello\n'],
    ['an empty file', ''],
    ['an interpreter line that is not at the very beginning', '\n#!/bin/sh\n'],
  ] as const)('is refused for %s', ([, text], { dir }) => {
    writeFileSync(join(dir, 'tool'), text, { mode: 0o755 });
    expect(() => assertExecutableFormat(join(dir, 'tool'))).toThrowError(/Exec format error/);
  });

  test('is left to the system for a file that cannot be read', ({ dir }) => {
    assertExecutableFormat(join(dir, 'absent'));
  });
});
