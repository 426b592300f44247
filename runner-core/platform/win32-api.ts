/**
 * All raw Win32, in one file: names and parameters as https://learn.microsoft.com/windows/win32/api has them, results
 * written into buffers that the caller gives. koffi is loaded at the first call, never at import.
 */
import { createRequire } from 'node:module';
import { messageOf, RunnerError } from '../errors.ts';

/** A kernel handle. They fit 32 bits on every Windows (learn.microsoft.com/windows/win32/winprog64/interprocess-communication). */
export type Handle = number;
export const INVALID_HANDLE: Handle = -1;

/** What functions without a more telling name give: 0 is failure, and `GetLastError` says which. */
type Bool = number;

export interface Win32 {
  CloseHandle(handle: Handle): Bool;
  GetLastError(): number;
  GetCurrentProcess(): Handle;
  DuplicateHandle(
    fromProcess: Handle,
    handle: Handle,
    toProcess: Handle,
    out: Buffer,
    access: number,
    inherit: Bool,
    options: number,
  ): Bool;
  SetHandleInformation(handle: Handle, mask: number, flags: number): Bool;
  CreatePipe(readEnd: Buffer, writeEnd: Buffer, security: null, sizeBytes: number): Bool;
  PeekNamedPipe(
    pipe: Handle,
    into: null,
    size: number,
    read: null,
    available: Buffer | null,
    left: null,
  ): Bool;
  CreateFileW(
    path: string,
    access: number,
    share: number,
    security: Buffer | null,
    disposition: number,
    flags: number,
    template: Handle,
  ): Handle;
  CreateDirectoryW(path: string, security: Buffer): Bool;

  CreateProcessW(
    application: string,
    commandLine: Buffer,
    processSecurity: null,
    threadSecurity: null,
    inherit: Bool,
    flags: number,
    environment: Buffer,
    cwd: string,
    startup: unknown,
    information: Buffer,
  ): Bool;
  InitializeProcThreadAttributeList(list: Buffer | null, count: number, flags: number, size: Buffer): Bool;
  UpdateProcThreadAttribute(
    list: Buffer,
    flags: number,
    attribute: number,
    value: Buffer,
    size: number,
    previous: null,
    returned: null,
  ): Bool;
  DeleteProcThreadAttributeList(list: Buffer): void;
  ResumeThread(thread: Handle): number;
  OpenProcess(access: number, inherit: Bool, pid: number): Handle;
  TerminateProcess(process: Handle, exitCode: number): Bool;
  GetExitCodeProcess(process: Handle, exitCode: Buffer): Bool;
  GetProcessTimes(process: Handle, created: Buffer, exited: Buffer, kernel: Buffer, user: Buffer): Bool;
  QueryFullProcessImageNameW(process: Handle, flags: number, path: Buffer, chars: Buffer): Bool;
  WaitForSingleObject: {
    (handle: Handle, ms: number): number;
    /** On a thread of its own, so that the event loop goes on. */
    async(handle: Handle, ms: number, done: (error: Error | null, result: number) => void): void;
  };
  CreateToolhelp32Snapshot(flags: number, pid: number): Handle;
  Process32FirstW(snapshot: Handle, entry: Buffer): Bool;
  Process32NextW(snapshot: Handle, entry: Buffer): Bool;

  CreateJobObjectW(security: null, name: string): Handle;
  OpenJobObjectW(access: number, inherit: Bool, name: string): Handle;
  AssignProcessToJobObject(job: Handle, process: Handle): Bool;
  TerminateJobObject(job: Handle, exitCode: number): Bool;
  QueryInformationJobObject(job: Handle, kind: number, into: Buffer, size: number, returned: null): Bool;
  IsProcessInJob(process: Handle, job: Handle, result: Buffer): Bool;

  CreateFileMappingW(
    file: Handle,
    security: null,
    protect: number,
    high: number,
    low: number,
    name: string,
  ): Handle;
  OpenFileMappingW(access: number, inherit: Bool, name: string): Handle;
  MapViewOfFile(mapping: Handle, access: number, high: number, low: number, bytes: number): Handle;
  UnmapViewOfFile(address: Handle): Bool;

  OpenProcessToken(process: Handle, access: number, token: Buffer): Bool;
  GetTokenInformation(token: Handle, kind: number, into: Buffer, size: number, needed: Buffer): Bool;
  CopySid(size: number, into: Buffer, sid: bigint): Bool;
  GetKernelObjectSecurity(handle: Handle, what: number, into: Buffer, size: number, needed: Buffer): Bool;
  SetFileSecurityW(path: string, what: number, descriptor: bigint): Bool;
  ConvertStringSecurityDescriptorToSecurityDescriptorW(
    text: string,
    revision: number,
    descriptor: Buffer,
    size: null,
  ): Bool;
  LocalFree(memory: bigint): Handle;

  /** node.exe exports libuv (docs.libuv.org/en/v1.x/fs.html): its descriptors are those of `node:fs`. */
  uv_get_osfhandle(fd: number): Handle;
  uv_open_osfhandle(handle: Handle): number;

  /** Copies memory between a buffer and an address of this process. */
  readMemory(into: Buffer, from: Handle, bytes: number): void;
  writeMemory(to: Handle, from: Buffer, bytes: number): void;
}

/** STARTUPINFOEXW, the one structure that holds addresses of buffers and so cannot be a buffer itself. */
const STARTUP_FIELDS = {
  cb: 'DWORD',
  reserved: 'intptr_t',
  desktop: 'intptr_t',
  title: 'intptr_t',
  place: 'DWORD[7]',
  dwFlags: 'DWORD',
  showWindow: 'uint16_t',
  reserved2Bytes: 'uint16_t',
  reserved2: 'intptr_t',
  stdIn: 'HANDLE',
  stdOut: 'HANDLE',
  stdErr: 'HANDLE',
  attributes: 'void *',
};

const KERNEL32 = [
  'BOOL CloseHandle(HANDLE h)',
  'DWORD GetLastError()',
  'HANDLE GetCurrentProcess()',
  'BOOL DuplicateHandle(HANDLE p, HANDLE h, HANDLE q, void *out, DWORD access, BOOL inherit, DWORD options)',
  'BOOL SetHandleInformation(HANDLE h, DWORD mask, DWORD flags)',
  'BOOL CreatePipe(void *r, void *w, void *sa, DWORD size)',
  'BOOL PeekNamedPipe(HANDLE h, void *into, DWORD size, void *read, void *available, void *left)',
  'HANDLE CreateFileW(str16 name, DWORD access, DWORD share, void *sa, DWORD how, DWORD flags, HANDLE t)',
  'BOOL CreateDirectoryW(str16 path, void *sa)',
  'BOOL CreateProcessW(str16 app, void *line, void *psa, void *tsa, BOOL inherit, DWORD flags, void *env, str16 cwd, PEER_STARTUPINFOEXW *si, void *pi)',
  'BOOL InitializeProcThreadAttributeList(void *list, DWORD count, DWORD flags, void *size)',
  'BOOL UpdateProcThreadAttribute(void *list, DWORD flags, uintptr_t what, void *value, size_t size, void *old, void *returned)',
  'void DeleteProcThreadAttributeList(void *list)',
  'DWORD ResumeThread(HANDLE thread)',
  'HANDLE OpenProcess(DWORD access, BOOL inherit, DWORD pid)',
  'BOOL TerminateProcess(HANDLE p, DWORD code)',
  'BOOL GetExitCodeProcess(HANDLE p, void *code)',
  'BOOL GetProcessTimes(HANDLE p, void *created, void *exited, void *kernel, void *user)',
  'BOOL QueryFullProcessImageNameW(HANDLE p, DWORD flags, void *path, void *chars)',
  'DWORD WaitForSingleObject(HANDLE h, DWORD ms)',
  'HANDLE CreateToolhelp32Snapshot(DWORD flags, DWORD pid)',
  'BOOL Process32FirstW(HANDLE s, void *entry)',
  'BOOL Process32NextW(HANDLE s, void *entry)',
  'HANDLE CreateJobObjectW(void *sa, str16 name)',
  'HANDLE OpenJobObjectW(DWORD access, BOOL inherit, str16 name)',
  'BOOL AssignProcessToJobObject(HANDLE job, HANDLE p)',
  'BOOL TerminateJobObject(HANDLE job, DWORD code)',
  'BOOL QueryInformationJobObject(HANDLE job, int kind, void *into, DWORD size, void *returned)',
  'BOOL IsProcessInJob(HANDLE p, HANDLE job, void *result)',
  'HANDLE CreateFileMappingW(HANDLE file, void *sa, DWORD protect, DWORD high, DWORD low, str16 name)',
  'HANDLE OpenFileMappingW(DWORD access, BOOL inherit, str16 name)',
  'intptr_t MapViewOfFile(HANDLE m, DWORD access, DWORD high, DWORD low, size_t bytes)',
  'BOOL UnmapViewOfFile(intptr_t address)',
  'HANDLE LocalFree(intptr_t memory)',
];
const ADVAPI32 = [
  'BOOL OpenProcessToken(HANDLE p, DWORD access, void *token)',
  'BOOL GetTokenInformation(HANDLE token, int kind, void *into, DWORD size, void *needed)',
  'BOOL CopySid(DWORD size, void *into, intptr_t sid)',
  'BOOL GetKernelObjectSecurity(HANDLE h, DWORD what, void *into, DWORD size, void *needed)',
  'BOOL SetFileSecurityW(str16 path, DWORD what, intptr_t descriptor)',
  'BOOL ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, DWORD revision, void *descriptor, void *size)',
];
const NODE = ['HANDLE uv_get_osfhandle(int fd)', 'int uv_open_osfhandle(HANDLE h)'];

type Koffi = typeof import('koffi');

let loaded: Win32 | undefined;

/**
 * The calls. Throws a `system` RunnerError where koffi is missing, refused (code signing) or not made for this
 * architecture: without it nothing can be kept private or started here, so nothing is begun.
 */
export function win32(): Win32 {
  loaded ??= load();
  return loaded;
}

function load(): Win32 {
  try {
    const requireNative = createRequire(import.meta.url);
    return declare(requireNative('koffi') as Koffi);
  } catch (error) {
    throw new RunnerError(
      'system',
      `peer-jobs needs the koffi package to run on Windows, and it cannot be loaded (${messageOf(error).split('\n')[0]}); ` +
        'nothing was done. Reinstall peer-jobs with its dependencies on 64-bit Windows (x64 or arm64)',
      { cause: error },
    );
  }
}

function declare(koffi: Koffi): Win32 {
  if (koffi.sizeof('void *') !== 8) throw new Error('this is a 32-bit Node');
  koffi.alias('HANDLE', 'intptr_t');
  koffi.alias('DWORD', 'uint32_t');
  koffi.alias('BOOL', 'int32_t');
  koffi.struct('PEER_STARTUPINFOEXW', STARTUP_FIELDS);
  const libraries: [string | null, string[]][] = [
    ['kernel32.dll', KERNEL32],
    ['advapi32.dll', ADVAPI32],
    // The running program itself.
    [null, NODE],
  ];
  const ntdll = koffi.load('ntdll.dll');
  const calls: Record<string, unknown> = {
    readMemory: ntdll.func('RtlMoveMemory', 'void', ['void *', 'intptr_t', 'size_t']),
    writeMemory: ntdll.func('RtlMoveMemory', 'void', ['intptr_t', 'void *', 'size_t']),
  };
  for (const [library, prototypes] of libraries) {
    const handle = koffi.load(library);
    for (const prototype of prototypes) {
      const name = /(\w+)\(/.exec(prototype)?.[1] ?? '';
      calls[name] = handle.func(prototype);
    }
  }
  return calls as unknown as Win32;
}
