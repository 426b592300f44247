import { setTimeout as sleep } from 'node:timers/promises';
import type { Circumstances, Whereabouts } from './port.ts';
import { type Handle, INVALID_HANDLE, win32 } from './win32-api.ts';
import type { WindowsRow } from './windows-tree.ts';

/** processthreadsapi.h, tlhelp32.h, winerror.h */
export const PROCESS_TERMINATE = 0x1;
export const QUERY_LIMITED_INFORMATION = 0x1000;
export const SYNCHRONIZE = 0x0010_0000;
const TH32CS_SNAPPROCESS = 0x2;
const ERROR_ACCESS_DENIED = 5;
const WAIT_TIMEOUT = 0x102;
const WAIT_OBJECT_0 = 0;

const MAX_PATH_CHARS = 32_767;
/** FILETIME counts 100 ns from 1601. */
const EPOCH_1601_MS = 11_644_473_600_000n;
const TICKS_PER_MS = 10_000n;
/** Tolerance for file time stamps against process starts. */
const START_SLACK_MS = 3000;

/** Gives `use` the process, or `none` and why where it cannot be opened. */
export function withProcess<T>(
  pid: number,
  access: number,
  use: (process: Handle) => T,
  none: (windowsError: number) => T,
): T {
  const api = win32();
  const handle = api.OpenProcess(access, 0, pid);
  if (handle === 0) return none(api.GetLastError());
  try {
    return use(handle);
  } finally {
    api.CloseHandle(handle);
  }
}

/** When an opened process was created (FILETIME), which with its pid names it for good. */
export function createdAt(process: Handle): bigint | undefined {
  const [created, ...others] = [Buffer.alloc(8), Buffer.alloc(8), Buffer.alloc(8), Buffer.alloc(8)] as const;
  const done = win32().GetProcessTimes(process, created, ...others) !== 0;
  return done ? created.readBigUInt64LE() : undefined;
}

function imageOf(process: Handle): string {
  const path = Buffer.alloc(2 * (MAX_PATH_CHARS + 1));
  const chars = Buffer.alloc(4);
  chars.writeUInt32LE(MAX_PATH_CHARS);
  if (win32().QueryFullProcessImageNameW(process, 0, path, chars) === 0) return '';
  return path.toString('utf16le', 0, chars.readUInt32LE() * 2);
}

export function hasEnded(process: Handle): boolean {
  return win32().WaitForSingleObject(process, 0) !== WAIT_TIMEOUT;
}

/** `<creation time> <image>`, as the reference writes it. */
export function identityOf(process: Handle): string | undefined {
  const created = createdAt(process);
  return created === undefined ? undefined : `${created} ${imageOf(process)}`;
}

export function identify(pid: number): string | undefined {
  return withProcess(pid, QUERY_LIMITED_INFORMATION, identityOf, () => undefined);
}

/** The creation time out of an identity. */
export function startOf(identity: string | undefined): bigint | undefined {
  const digits = /^(\d+)(?: |$)/.exec(identity ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function startedWithin(created: bigint, known: Circumstances): boolean {
  const startedMs = Number(created / TICKS_PER_MS - EPOCH_1601_MS);
  return (
    startedMs >= known.startedAfterMs - START_SLACK_MS && startedMs <= known.startedBeforeMs + START_SLACK_MS
  );
}

export function locate(
  pid: number,
  identity: string | undefined,
  known: Circumstances | undefined,
): Whereabouts {
  const alive: Whereabouts = { state: 'alive', pid, stopped: false };
  return withProcess(
    pid,
    QUERY_LIMITED_INFORMATION | SYNCHRONIZE,
    (process): Whereabouts => {
      const created = createdAt(process);
      if (hasEnded(process)) return { state: 'gone' };
      if (created === undefined) return { state: 'unknown' };
      const recorded = startOf(identity);
      if (recorded !== undefined) return recorded === created ? alive : { state: 'gone' };
      if (!known) return { state: 'unknown' };
      return startedWithin(created, known) ? alive : { state: 'gone' };
    },
    (error) => (error === ERROR_ACCESS_DENIED ? locateClosed(pid, identity) : { state: 'gone' }),
  );
}

/** Somebody is there who may not be opened: not ours if its program is another one. */
function locateClosed(pid: number, identity: string | undefined): Whereabouts {
  const image = identity
    ?.slice(identity.indexOf(' ') + 1)
    .split('\\')
    .at(-1);
  const row = snapshot().find((candidate) => candidate.pid === pid);
  const other = row !== undefined && image && row.image.toLowerCase() !== image.toLowerCase();
  return { state: other || row === undefined ? 'gone' : 'unknown' };
}

/** PROCESSENTRY32W on 64 bits */
const ENTRY = { bytes: 568, pid: 8, ppid: 32, image: 44 } as const;

/** Every process, without creation times, which cost a call each. */
function snapshot(): Omit<WindowsRow, 'start'>[] {
  const api = win32();
  const handle = api.CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  if (handle === INVALID_HANDLE) return [];
  try {
    const entry = Buffer.alloc(ENTRY.bytes);
    entry.writeUInt32LE(ENTRY.bytes, 0);
    const rows: Omit<WindowsRow, 'start'>[] = [];
    for (
      let more = api.Process32FirstW(handle, entry);
      more !== 0;
      more = api.Process32NextW(handle, entry)
    ) {
      rows.push({
        pid: entry.readUInt32LE(ENTRY.pid),
        ppid: entry.readUInt32LE(ENTRY.ppid),
        image: entry.toString('utf16le', ENTRY.image).split('\0', 1)[0] ?? '',
      });
    }
    return rows;
  } finally {
    api.CloseHandle(handle);
  }
}

/** Every process, with the creation times that may be known. */
export function listProcesses(): WindowsRow[] {
  return snapshot().map((row) => ({
    ...row,
    start: withProcess(row.pid, QUERY_LIMITED_INFORMATION, createdAt, () => undefined),
  }));
}

/** Ends this very process, asked of the handle that ends it; false where it may not be ended. */
export function terminate(row: Pick<WindowsRow, 'pid' | 'start'>): boolean {
  return withProcess(
    row.pid,
    PROCESS_TERMINATE | QUERY_LIMITED_INFORMATION,
    (process) =>
      row.start === undefined ||
      createdAt(process) !== row.start ||
      win32().TerminateProcess(process, 1) !== 0,
    () => false,
  );
}

/** Whether this very process still runs. */
export function isRunning(row: Pick<WindowsRow, 'pid' | 'start'>): boolean {
  return withProcess(
    row.pid,
    QUERY_LIMITED_INFORMATION | SYNCHRONIZE,
    (process) => createdAt(process) === row.start && !hasEnded(process),
    (error) => error === ERROR_ACCESS_DENIED,
  );
}

const WAIT_SLICE_MS = 60_000;
const RETRY_MS = 500;

/** Resolves when an opened process has ended. */
export async function awaitHandle(process: Handle): Promise<void> {
  for (;;) {
    const result = await new Promise<number>((resolve, reject) =>
      win32().WaitForSingleObject.async(process, WAIT_SLICE_MS, (error, code) =>
        error ? reject(error) : resolve(code),
      ),
    );
    if (result === WAIT_OBJECT_0) return;
    if (result !== WAIT_TIMEOUT) await sleep(RETRY_MS);
  }
}

/** Resolves when a process that is not our child has ended. */
export async function awaitEnd(
  pid: number,
  identity: string | undefined,
  known?: Circumstances,
): Promise<void> {
  const api = win32();
  while (locate(pid, identity, known).state !== 'gone') {
    const handle = api.OpenProcess(SYNCHRONIZE | QUERY_LIMITED_INFORMATION, 0, pid);
    // Asked again of the handle: the pid may have changed hands in between.
    const recorded = startOf(identity);
    const same = handle !== 0 && (recorded === undefined || createdAt(handle) === recorded);
    if (same) await awaitHandle(handle);
    else await sleep(RETRY_MS);
    if (handle !== 0) api.CloseHandle(handle);
  }
}
