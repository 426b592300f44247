import { lstatSync, readFileSync, statSync } from 'node:fs';
import { RunnerError } from '../errors.ts';
import type { Ending } from '../job/classify.ts';
import { JOB_ID_ENV } from '../limits.ts';
import type { RunningWorker, WorkerOrder } from './port.ts';
import { type Handle, win32 } from './win32-api.ts';
import {
  CREATE_NEW_PROCESS_GROUP,
  CREATE_NO_WINDOW,
  CREATE_SUSPENDED,
  type CreatedProcess,
  closeAll,
  createProcess,
  inheritableHandle,
  openNull,
} from './win32-create.ts';
import { lastError } from './win32-errors.ts';
import { createJobObject, inheritableQueryHandle, isEmpty, jobObjectName } from './win32-job.ts';
import { awaitHandle, identityOf } from './win32-process.ts';
import { variableOf } from './windows-environment.ts';
import { type LaunchQuery, launchLine } from './windows-launch.ts';

/** Shims are a few hundred bytes. */
const MAX_SHIM_BYTES = 16 * 1024;

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    // The Store's aliases are links that can be started and not followed.
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  }
}

function readText(path: string): string | undefined {
  try {
    return statSync(path).size <= MAX_SHIM_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // Then it is not known to be anything.
    return undefined;
  }
}

/** How the disk and the environment look to a worker that is to be started. */
export function launchQuery(cwd: string, env: Readonly<Record<string, string | undefined>>): LaunchQuery {
  return { cwd, env, isFile, readText };
}

/** Without these many programs, Node among them, do not start; libuv adds them too (src/win/process.c). */
const REQUIRED = ['SystemRoot', 'SystemDrive'];

export function withRequired(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const missing = REQUIRED.filter((name) => variableOf(env, name) === undefined);
  return { ...env, ...Object.fromEntries(missing.map((name) => [name, process.env[name]])) };
}

/**
 * Starts the worker suspended, puts it into its job object, then lets it run: not even its first act can be to start a
 * process outside. No window appears, at any depth. Throws if it could not be launched.
 */
export async function spawnWorker(order: WorkerOrder): Promise<RunningWorker> {
  const line = launchLine(order.argv, launchQuery(order.cwd, order.env));
  const nul = openNull();
  const log = inheritableHandle(order.logFd);
  const jobName = jobObjectName(order.jobId);
  // Held as long as this process lives; the worker holds the name beyond that.
  const job = createJobObject(jobName);
  const name = job === 0 ? 0 : inheritableQueryHandle(job);
  try {
    const worker = createProcess({
      ...line,
      cwd: order.cwd,
      env: withRequired({ ...order.env, [JOB_ID_ENV]: order.jobId }),
      flags: CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP,
      stdin: nul,
      stdout: log,
      stderr: log,
      inherit: name === 0 ? [] : [name],
    });
    return release(worker, job, jobName);
  } finally {
    closeAll(nul, log, name);
  }
}

/** The job object of the worker that this process started, and that took it in. */
let ownJob: Handle | undefined;

/** Whether the kernel's own list of the worker's tree is empty: nobody leaves a job object that lets nobody out. */
export function ownJobIsEmpty(): boolean {
  return ownJob !== undefined && isEmpty(ownJob);
}

function release(worker: CreatedProcess, job: Handle, jobName: string): RunningWorker {
  const api = win32();
  const { pid, process, thread } = worker;
  const identity = identityOf(process);
  const held = job !== 0 && api.AssignProcessToJobObject(job, process) !== 0;
  ownJob = held ? job : undefined;
  if (api.ResumeThread(thread) === 0xffff_ffff) {
    const error = lastError('ResumeThread');
    api.TerminateProcess(process, 1);
    closeAll(process, thread);
    throw new RunnerError('system', `the worker could not be resumed: ${error.message}`, { cause: error });
  }
  closeAll(thread);
  return { pid, identity, jobName: held ? jobName : undefined, ended: endingOf(process) };
}

/** Ends of processes are numbers here; a crash is one above 0xC0000000. */
async function endingOf(process: Handle): Promise<Ending> {
  await awaitHandle(process);
  const code = Buffer.alloc(4);
  const known = win32().GetExitCodeProcess(process, code) !== 0;
  return known ? { kind: 'exited', code: code.readUInt32LE() } : { kind: 'lost' };
}
