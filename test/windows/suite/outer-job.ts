/** Runs a program inside a job object of somebody else's, as some terminals and services run everything. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Handle, win32 } from '../../../runner-core/platform/win32-api.ts';
import {
  CREATE_NO_WINDOW,
  CREATE_SUSPENDED,
  closeAll,
  createProcess,
  inheritableHandle,
  openNull,
} from '../../../runner-core/platform/win32-create.ts';
import { awaitHandle } from '../../../runner-core/platform/win32-process.ts';
import { commandLine } from '../../../runner-core/platform/windows-command-line.ts';
import type { TempBase } from './temp-base.ts';

/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION */
const EXTENDED_LIMIT_INFORMATION = 9;
const LIMIT_BYTES = 144;
const LIMIT_FLAGS_OFFSET = 16;
const BREAKAWAY_OK = 0x800;
const KILL_ON_JOB_CLOSE = 0x2000;

function outerJob(breakawayOk: boolean): Handle {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const kernel32 = koffi.load('kernel32.dll');
  const create = kernel32.func('intptr_t CreateJobObjectW(void *sa, str16 name)');
  const set = kernel32.func('int SetInformationJobObject(intptr_t job, int kind, void *info, uint32_t size)');
  const job: Handle = create(null, null);
  const limits = Buffer.alloc(LIMIT_BYTES);
  limits.writeUInt32LE(KILL_ON_JOB_CLOSE | (breakawayOk ? BREAKAWAY_OK : 0), LIMIT_FLAGS_OFFSET);
  if (set(job, EXTENDED_LIMIT_INFORMATION, limits, limits.length) === 0) throw new Error('no limits');
  return job;
}

/**
 * Runs Node with these arguments in a job object that ends its members with its last handle; gives what was printed.
 * `killAfterwards`: that last handle is closed once the program has ended.
 */
export async function runInJob(
  args: readonly string[],
  temp: TempBase,
  options: { breakawayOk: boolean; killAfterwards: boolean },
): Promise<string> {
  const api = win32();
  const job = outerJob(options.breakawayOk);
  const outPath = temp.at('printed');
  const out = openSync(outPath, 'w');
  const handles = [openNull(), inheritableHandle(out)] as const;
  const child = createProcess({
    application: process.execPath,
    commandLine: commandLine(process.execPath, args),
    cwd: temp.scratch,
    env: temp.env,
    flags: CREATE_SUSPENDED | CREATE_NO_WINDOW,
    stdin: handles[0],
    stdout: handles[1],
    stderr: handles[1],
    inherit: [],
  });
  closeAll(...handles);
  closeSync(out);
  if (api.AssignProcessToJobObject(job, child.process) === 0) throw new Error('not assigned');
  api.ResumeThread(child.thread);
  await awaitHandle(child.process);
  closeAll(child.thread, child.process, ...(options.killAfterwards ? [job] : []));
  return readFileSync(outPath, 'utf8').trim();
}
