import { toNamespacedPath } from 'node:path';
import { type Handle, INVALID_HANDLE, win32 } from './win32-api.ts';
import { lastError } from './win32-errors.ts';
import { environmentBlock } from './windows-environment.ts';
import type { LaunchLine } from './windows-launch.ts';

/** processthreadsapi.h: process creation flags */
export const CREATE_SUSPENDED = 0x4;
export const DETACHED_PROCESS = 0x8;
export const CREATE_NEW_PROCESS_GROUP = 0x200;
export const CREATE_BREAKAWAY_FROM_JOB = 0x0100_0000;
export const CREATE_NO_WINDOW = 0x0800_0000;
const CREATE_UNICODE_ENVIRONMENT = 0x400;
const EXTENDED_STARTUPINFO_PRESENT = 0x8_0000;

const STARTF_USESTDHANDLES = 0x100;
const STARTUPINFOEX_BYTES = 112;
const ATTRIBUTE_HANDLE_LIST = 0x2_0002;

const GENERIC_READ_WRITE = 0xc000_0000;
const SHARE_ALL = 0x7;
const OPEN_EXISTING = 3;
const DUPLICATE_SAME_ACCESS = 2;
const MAX_PATH = 260;

export interface CreateOrder extends LaunchLine {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: number;
  readonly stdin: Handle;
  readonly stdout: Handle;
  readonly stderr: Handle;
  /** Inherited besides the three; nothing else is, whatever this process holds. */
  readonly inherit: readonly Handle[];
}

export interface CreatedProcess {
  readonly pid: number;
  readonly process: Handle;
  readonly thread: Handle;
}

/** Starts a program. Every handle given must be inheritable. Throws the system's error. */
export function createProcess(order: CreateOrder): CreatedProcess {
  const api = win32();
  const handles = [...new Set([order.stdin, order.stdout, order.stderr, ...order.inherit])];
  return withHandleList(handles, (attributes) => {
    const startup = {
      cb: STARTUPINFOEX_BYTES,
      reserved: 0,
      desktop: 0,
      title: 0,
      place: [0, 0, 0, 0, 0, 0, 0],
      dwFlags: STARTF_USESTDHANDLES,
      showWindow: 0,
      reserved2Bytes: 0,
      reserved2: 0,
      stdIn: order.stdin,
      stdOut: order.stdout,
      stdErr: order.stderr,
      attributes,
    };
    const created = Buffer.alloc(24);
    const done = api.CreateProcessW(
      applicationPath(order.application),
      // The call may write into it.
      Buffer.from(`${order.commandLine}\0`, 'utf16le'),
      null,
      null,
      1,
      order.flags | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
      environmentBlock(order.env),
      order.cwd,
      startup,
      created,
    );
    if (done === 0) throw lastError('CreateProcess', order.application);
    return {
      process: Number(created.readBigInt64LE(0)),
      thread: Number(created.readBigInt64LE(8)),
      pid: created.readUInt32LE(16),
    };
  });
}

/** The name with which long paths are given becomes the program's own name for itself, so only they get it. */
function applicationPath(path: string): string {
  return path.length < MAX_PATH ? path : toNamespacedPath(path);
}

/** PROC_THREAD_ATTRIBUTE_HANDLE_LIST: these handles are inherited, and no others. */
function withHandleList<T>(handles: readonly Handle[], use: (attributes: Buffer) => T): T {
  const api = win32();
  const size = Buffer.alloc(8);
  api.InitializeProcThreadAttributeList(null, 1, 0, size);
  const attributes = Buffer.alloc(Number(size.readBigUInt64LE()));
  if (api.InitializeProcThreadAttributeList(attributes, 1, 0, size) === 0)
    throw lastError('InitializeProcThreadAttributeList');
  const list = Buffer.alloc(8 * handles.length);
  handles.forEach((handle, index) => {
    list.writeBigInt64LE(BigInt(handle), 8 * index);
  });
  try {
    // The list keeps the address of `list`, which stays where it is as long as it is in use here.
    if (
      api.UpdateProcThreadAttribute(attributes, 0, ATTRIBUTE_HANDLE_LIST, list, list.length, null, null) === 0
    )
      throw lastError('UpdateProcThreadAttribute');
    return use(attributes);
  } finally {
    api.DeleteProcThreadAttributeList(attributes);
    list.fill(0);
  }
}

/** A handle on the null device that can be inherited. */
export function openNull(): Handle {
  const security = Buffer.alloc(24);
  security.writeUInt32LE(security.length, 0);
  security.writeInt32LE(1, 16);
  const handle = win32().CreateFileW('NUL', GENERIC_READ_WRITE, SHARE_ALL, security, OPEN_EXISTING, 0, 0);
  if (handle === INVALID_HANDLE) throw lastError('open', 'NUL');
  return handle;
}

/** A handle for what `fd` has open, that can be inherited. */
export function inheritableHandle(fd: number): Handle {
  const api = win32();
  const self = api.GetCurrentProcess();
  const out = Buffer.alloc(8);
  const handle = api.uv_get_osfhandle(fd);
  if (api.DuplicateHandle(self, handle, self, out, 0, 1, DUPLICATE_SAME_ACCESS) === 0)
    throw lastError('DuplicateHandle');
  return Number(out.readBigInt64LE());
}

export function closeAll(...handles: readonly Handle[]): void {
  for (const handle of handles) if (handle !== 0) win32().CloseHandle(handle);
}
