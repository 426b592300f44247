import { parse } from 'node:path';
import { SUPERVISOR_ENV } from '../limits.ts';
import { nodeProgram } from './node-program.ts';
import type { Handle } from './win32-api.ts';
import {
  CREATE_BREAKAWAY_FROM_JOB,
  CREATE_NEW_PROCESS_GROUP,
  type CreatedProcess,
  closeAll,
  createProcess,
  DETACHED_PROCESS,
  openNull,
} from './win32-create.ts';
import { commandLine } from './windows-command-line.ts';

/** The two ends that a supervisor is given, as numbers, and how it came to be. */
export const PIPES_ENV = 'PEER_JOBS_PIPES';
/** Set for the process in between, which only starts the supervisor and ends. */
export const RELAY_ENV = 'PEER_JOBS_RELAY';
export const BREAKAWAY_ENV = 'PEER_JOBS_BREAKAWAY';

/** What a program needs of Windows itself. The rest travels in the spec: NODE_OPTIONS and the like stay outside. */
const PASSED = [
  'SystemRoot',
  'SystemDrive',
  'windir',
  'ComSpec',
  'PATH',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERPROFILE',
];

/** Starts this program as a supervisor, or as the relay before it. `ends` must be inheritable. */
export function startSelf(
  entry: string,
  env: Readonly<Record<string, string>>,
  ends: readonly Handle[],
): CreatedProcess {
  const node = nodeProgram();
  const nul = openNull();
  const passed = {
    ...Object.fromEntries(PASSED.map((name) => [name, process.env[name]])),
    [SUPERVISOR_ENV]: '1',
  };
  const order = {
    application: node,
    commandLine: commandLine(node, [entry, '__supervise']),
    // Some folder that nobody wants to remove.
    cwd: process.env.SystemRoot ?? parse(node).root,
    stdin: nul,
    stdout: nul,
    stderr: nul,
    inherit: ends,
  };
  const flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
  try {
    const known = env[BREAKAWAY_ENV];
    if (known !== undefined) return createProcess({ ...order, flags, env: { ...passed, ...env } });
    try {
      return createProcess({
        ...order,
        flags: flags | CREATE_BREAKAWAY_FROM_JOB,
        env: { ...passed, ...env, [BREAKAWAY_ENV]: 'yes' },
      });
    } catch {
      // The job object around us does not let anybody out.
      return createProcess({ ...order, flags, env: { ...passed, ...env, [BREAKAWAY_ENV]: 'refused' } });
    }
  } finally {
    closeAll(nul);
  }
}
