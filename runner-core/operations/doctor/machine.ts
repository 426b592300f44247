/** The machine and the program: node, platform, native calls, shell, environment. */
import { existsSync, statSync, watch } from 'node:fs';
import { arch, release, type as systemType, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { isUsable } from '../../job/windows.ts';
import * as limits from '../../limits.ts';
import { platform } from '../../platform/index.ts';
import { loadLinuxApi } from '../../platform/linux-api.ts';
import { type InotifyUse, inotifyUse } from '../../platform/linux-inotify.ts';
import { win32 } from '../../platform/win32-api.ts';
import type { Caller } from '../operation.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';

const NODE_MIN_MAJOR = 20;

export function nodeFinding(version: string): Finding {
  const major = Number(version.split('.')[0]);
  return major >= NODE_MIN_MAJOR
    ? ok('node', `Node ${version}`)
    : problem(
        'node',
        `Node ${version} is too old; ${NODE_MIN_MAJOR} or later is needed`,
        `Install Node ${NODE_MIN_MAJOR} or later (https://nodejs.org) and let it come first on PATH.`,
      );
}

export async function platformFinding(): Promise<Finding> {
  const name = `${systemType()} ${release()} on ${arch()}`;
  if (!['Linux', 'Darwin', 'Windows_NT'].includes(systemType())) {
    return warning('platform', `${name} is not tried`, 'Use Linux, macOS or Windows.');
  }
  if ((await platform.identify(process.pid)) !== undefined) return ok('platform', name);
  return problem(
    'platform',
    `${name}: processes cannot be told apart here, so a job whose supervisor died is not noticed`,
    'Make /proc (Linux) or the ps program (macOS) usable where jobs run.',
  );
}

export function programFindings(entry: string): Finding[] {
  const folder = dirname(entry);
  const beside = (file: string, without: string): Finding =>
    existsSync(join(folder, file))
      ? ok('program', `${file} lies beside it`)
      : note(
          'program',
          `${file} does not lie beside it: ${without}`,
          `Copy ${file} of the same version into ${folder}, or run the one where it was built.`,
        );
  return [
    ok('program', entry),
    beside('server.mjs', 'no MCP server (peer-jobs mcp)'),
    beside('watch.mjs', 'no full-screen view (peer-jobs watch)'),
  ];
}

/** Without native calls nothing can be done on Windows. */
function windowsCallsFinding(): Finding {
  try {
    win32();
    return ok('koffi', 'loads: jobs can be started, looked at and kept private');
  } catch (error) {
    const cause = error instanceof Error ? error.cause : error;
    return problem(
      'koffi',
      `cannot be loaded (${messageOf(cause).split('\n')[0]}): jobs can be neither started nor looked at`,
      'Use a 64-bit Node (x64 or arm64), and run npm ci in the folder of its package.json; where a policy blocks unsigned libraries, allow koffi.node.',
    );
  }
}

/** Native calls are optional on POSIX. */
export async function koffiFinding(): Promise<Finding> {
  if (platform.kind === 'windows') return windowsCallsFinding();
  if (systemType() !== 'Linux') return note('koffi', 'is not used on this system');
  return (await loadLinuxApi())
    ? ok('koffi', 'loads: orphans of a worker come to its supervisor')
    : warning(
        'koffi',
        'cannot be loaded: a descendant that left its session and scrubbed its environment may escape a reap',
        'Run npm ci in the folder of its package.json, or put koffi into a node_modules beside the program.',
      );
}

export async function shellFindings(caller: Caller): Promise<Finding[]> {
  if (platform.kind !== 'windows') return [];
  const { findPosixShell } = await import('../../platform/windows-shell.ts');
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  try {
    return [ok('git bash', findPosixShell({ env: caller.env, cwd: caller.cwd, isFile }))];
  } catch (error) {
    return [
      warning(
        'git bash',
        `shell workers cannot run: ${messageOf(error)}`,
        'Install Git for Windows, or set CE_PEER_BASH to the absolute path of a bash.exe.',
      ),
    ];
  }
}

/** Values that would be passed over without a word. */
export function environmentFindings(env: Caller['env']): Finding[] {
  const isLimit = (value: unknown): value is limits.Limit =>
    typeof value === 'object' && value !== null && 'env' in value && 'fallback' in value;
  const unusable = Object.values(limits)
    .filter(isLimit)
    .flatMap((limit) => {
      const text = env[limit.env];
      if (text === undefined || isUsable(text, limit)) return [];
      const number = limit.unit === 'bytes' ? 'whole number' : 'number';
      return [
        warning(
          'environment',
          `${limit.env}=${JSON.stringify(text)} is not usable; ${limit.fallback} is in force`,
          `Unset ${limit.env}, or give it a positive ${number} of at most ${limit.max}.`,
        ),
      ];
    });
  const inside = env[limits.JOB_ID_ENV];
  return [
    ...unusable,
    ...(inside === undefined ? [] : [note('environment', `this runs inside job ${inside}`)]),
  ];
}

/** Events of the file system; without them everything falls back to looking from time to time. */
export async function watchFinding(): Promise<Finding> {
  const error = await new Promise<unknown>((resolve) => {
    try {
      const watcher = watch(tmpdir(), () => undefined);
      watcher.on('error', resolve);
      setTimeout(() => {
        watcher.close();
        resolve(undefined);
      }, 20);
    } catch (failure) {
      resolve(failure);
    }
  });
  return error === undefined
    ? eventsFinding(inotifyUse())
    : warning(
        'events',
        `no file system events (${messageOf(error)}); jobs are looked at from time to time instead`,
        'Raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl), or end programs that watch many files.',
      );
}

/** Each supervisor and each wait takes an instance; when none is left, the next ones poll. */
const FEW_INSTANCES = 16;

export function eventsFinding(use: InotifyUse | undefined): Finding {
  if (!use) return ok('events', 'file system events can be had');
  const { used, limit } = use;
  const left = `${used} of this user's ${limit} inotify instances are in use`;
  return limit - used >= FEW_INSTANCES
    ? ok('events', `file system events can be had; ${left}`)
    : warning(
        'events',
        `${left}; each job and each wait takes one, and without one it is looked at from time to time instead`,
        `sysctl fs.inotify.max_user_instances=${Math.max(1024, limit * 4)}, or end programs that watch files.`,
      );
}
