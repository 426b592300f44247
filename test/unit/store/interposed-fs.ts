/**
 * What stands between the store and the disk: for `vi.mock('node:fs', interpose)`. Something may then happen before each
 * call of one of these functions, however it ends.
 */
import type * as NodeFs from 'node:fs';

export type Step = { readonly name: string; readonly args: readonly unknown[] };

export const disk: {
  /** Called before each step; what it throws, the step throws. Not called for its own steps. */
  before: ((step: Step) => void) | undefined;
} = { before: undefined };

const NAMES = [
  'openSync',
  'closeSync',
  'writeSync',
  'readSync',
  'fstatSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'renameSync',
  'unlinkSync',
  'utimesSync',
  'readdirSync',
  'lstatSync',
  'mkdirSync',
] as const;

export async function interpose(original: () => Promise<unknown>): Promise<object> {
  const fs = (await original()) as typeof NodeFs;
  const wrapped: Record<string, unknown> = { ...fs };
  for (const name of NAMES) {
    const step = fs[name] as (...args: unknown[]) => unknown;
    wrapped[name] = (...args: unknown[]) => {
      const { before } = disk;
      if (before === undefined) return step(...args);
      disk.before = undefined;
      try {
        before({ name, args });
      } finally {
        disk.before ??= before;
      }
      return step(...args);
    };
  }
  return wrapped;
}

/** An error as the system gives it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the test wants it`), { code, syscall: 'test' });
}
