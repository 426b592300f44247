/** Job objects: the kernel's own list of a worker's tree, which no orphan leaves (learn.microsoft.com/windows/win32/procthread/job-objects). */
import { type Handle, win32 } from './win32-api.ts';
import { withProcess } from './win32-process.ts';

const JOB_OBJECT_QUERY = 0x4;
const JOB_OBJECT_TERMINATE = 0x8;
/** JOBOBJECTINFOCLASS */
const BASIC_PROCESS_ID_LIST = 3;
/** JOBOBJECT_BASIC_ACCOUNTING_INFORMATION */
const BASIC_ACCOUNTING = 1;
const ACCOUNTING_BYTES = 48;
const ACTIVE_PROCESSES_OFFSET = 40;
const EXTENDED_LIMIT_INFORMATION = 9;
const EXTENDED_LIMIT_BYTES = 144;
const LIMIT_FLAGS_OFFSET = 16;
const KILL_ON_JOB_CLOSE = 0x2000;
const DUPLICATE_INHERITABLE = 1;
/** processthreadsapi.h; the limited right is not enough for IsProcessInJob everywhere. */
const QUERY_INFORMATION = 0x400;

const FIRST_LIST_PIDS = 256;
const MOST_LIST_PIDS = 65_536;

/** Session-local, as the reference names it, so that either runner finds the other's. */
export function jobObjectName(jobId: string): string {
  return `Local\\ce-peer-job-${jobId}`;
}

/**
 * Makes the job object for a worker. No limits: it must not end with its supervisor, and a job that lets processes break
 * away would lose the grandchildren of every Node worker, since libuv's own job lets them break away silently.
 * 0 where it cannot be made.
 */
export function createJobObject(name: string): Handle {
  return win32().CreateJobObjectW(null, name);
}

/** A handle that a worker may inherit: a named object loses its name with its last handle, even while it has members. */
export function inheritableQueryHandle(job: Handle): Handle {
  const api = win32();
  const self = api.GetCurrentProcess();
  const out = Buffer.alloc(8);
  const done = api.DuplicateHandle(self, job, self, out, JOB_OBJECT_QUERY, DUPLICATE_INHERITABLE, 0);
  return done === 0 ? 0 : Number(out.readBigInt64LE());
}

/** Opens a job object by name for `use`; undefined where there is none any more. */
export function withJobObject<T>(name: string | undefined, use: (job: Handle) => T): T | undefined {
  if (name === undefined) return undefined;
  const api = win32();
  const job = api.OpenJobObjectW(JOB_OBJECT_QUERY | JOB_OBJECT_TERMINATE, 0, name);
  if (job === 0) return undefined;
  try {
    return use(job);
  } finally {
    api.CloseHandle(job);
  }
}

/** The pids in a job object, of jobs nested in it too. */
export function membersOf(job: Handle): number[] {
  const api = win32();
  for (let room = FIRST_LIST_PIDS; room <= MOST_LIST_PIDS; room *= 4) {
    const list = Buffer.alloc(8 + 8 * room);
    if (api.QueryInformationJobObject(job, BASIC_PROCESS_ID_LIST, list, list.length, null) === 0) continue;
    const count = list.readUInt32LE(4);
    return Array.from({ length: count }, (_, index) => Number(list.readBigUInt64LE(8 + 8 * index)));
  }
  return [];
}

/** Whether a job object has no member; false where that cannot be told. */
export function isEmpty(job: Handle): boolean {
  const counts = Buffer.alloc(ACCOUNTING_BYTES);
  const known = win32().QueryInformationJobObject(job, BASIC_ACCOUNTING, counts, counts.length, null);
  return known !== 0 && counts.readUInt32LE(ACTIVE_PROCESSES_OFFSET) === 0 && membersOf(job).length === 0;
}

export function endJobObject(job: Handle): void {
  win32().TerminateJobObject(job, 1);
}

/** Whether a process is in `job`, or with 0 in any. */
export function isInJob(process: Handle, job: Handle): boolean {
  const result = Buffer.alloc(4);
  return win32().IsProcessInJob(process, job, result) !== 0 && result.readInt32LE() !== 0;
}

export function pidIsInJob(pid: number, job: Handle): boolean {
  return withProcess(
    pid,
    QUERY_INFORMATION,
    (process) => isInJob(process, job),
    () => false,
  );
}

/** Whether this process ends together with somebody else's job object. */
export function endsWithAnOuterJob(): boolean {
  const api = win32();
  if (!isInJob(api.GetCurrentProcess(), 0)) return false;
  const limits = Buffer.alloc(EXTENDED_LIMIT_BYTES);
  const known = api.QueryInformationJobObject(0, EXTENDED_LIMIT_INFORMATION, limits, limits.length, null);
  return known !== 0 && (limits.readUInt32LE(LIMIT_FLAGS_OFFSET) & KILL_ON_JOB_CLOSE) !== 0;
}
