import { rmdirSync } from 'node:fs';
import { toNamespacedPath } from 'node:path';
import { RunnerError } from '../errors.ts';
import { type Handle, INVALID_HANDLE, win32 } from './win32-api.ts';
import { lastError } from './win32-errors.ts';
import {
  isOwnedBy,
  letsOnlyIn,
  parseSecurityDescriptor,
  privateDirectorySddl,
  type SecurityDescriptor,
  sidText,
} from './windows-security.ts';

/** winnt.h */
const OWNER_AND_DACL = 0x1 | 0x4;
const DACL_PROTECTED = 0x8000_0004;
const READ_CONTROL = 0x0002_0000;
const TOKEN_QUERY = 0x8;
const TOKEN_USER = 1;
const TOKEN_OWNER = 4;
const MAX_SID_BYTES = 68;
/** fileapi.h: a directory can be opened, and a link is not followed. */
const SHARE_ALL = 0x7;
const OPEN_EXISTING = 3;
const BACKUP_SEMANTICS_OPEN_REPARSE_POINT = 0x0220_0000;

const SDDL_REVISION = 1;

let sids: readonly string[] | undefined;

/** The SIDs as which this process creates files: the user, and the owner of new objects (administrators, elevated). */
function userSids(): readonly string[] {
  if (sids) return sids;
  const api = win32();
  const token = Buffer.alloc(8);
  if (api.OpenProcessToken(api.GetCurrentProcess(), TOKEN_QUERY, token) === 0)
    throw lastError('OpenProcessToken');
  const handle = Number(token.readBigInt64LE());
  try {
    sids = [...new Set([tokenSid(handle, TOKEN_USER), tokenSid(handle, TOKEN_OWNER)])];
    return sids;
  } finally {
    api.CloseHandle(handle);
  }
}

/** TOKEN_USER and TOKEN_OWNER both begin with the address of a SID. */
function tokenSid(token: Handle, kind: number): string {
  const api = win32();
  const information = Buffer.alloc(512);
  const sid = Buffer.alloc(MAX_SID_BYTES);
  if (
    api.GetTokenInformation(token, kind, information, information.length, Buffer.alloc(4)) === 0 ||
    api.CopySid(sid.length, sid, information.readBigInt64LE()) === 0
  ) {
    throw lastError('GetTokenInformation');
  }
  return sidText(sid);
}

function descriptorOf(handle: Handle): SecurityDescriptor {
  const api = win32();
  const needed = Buffer.alloc(4);
  for (let bytes = Buffer.alloc(1024); ; bytes = Buffer.alloc(needed.readUInt32LE())) {
    if (api.GetKernelObjectSecurity(handle, OWNER_AND_DACL, bytes, bytes.length, needed) !== 0)
      return parseSecurityDescriptor(bytes);
    if (needed.readUInt32LE() <= bytes.length) throw lastError('GetKernelObjectSecurity');
  }
}

function descriptorAt(path: string): SecurityDescriptor {
  const api = win32();
  const handle = api.CreateFileW(
    toNamespacedPath(path),
    READ_CONTROL,
    SHARE_ALL,
    null,
    OPEN_EXISTING,
    BACKUP_SEMANTICS_OPEN_REPARSE_POINT,
    0,
  );
  if (handle === INVALID_HANDLE) throw lastError('open', path);
  try {
    return descriptorOf(handle);
  } finally {
    api.CloseHandle(handle);
  }
}

/** Gives `use` the address of a descriptor of a private directory. */
function withPrivateDescriptor<T>(use: (descriptor: bigint) => T): T {
  const api = win32();
  const out = Buffer.alloc(8);
  const sddl = privateDirectorySddl(userSids());
  if (api.ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl, SDDL_REVISION, out, null) === 0)
    throw lastError('ConvertStringSecurityDescriptorToSecurityDescriptor', sddl);
  const descriptor = out.readBigInt64LE();
  try {
    return use(descriptor);
  } finally {
    api.LocalFree(descriptor);
  }
}

export function isPrivateDir(path: string): boolean {
  return letsOnlyIn(descriptorAt(path), userSids());
}

/** Born private: there is no moment in which others could enter. Takes it back where the file system keeps no lists. */
export function makePrivateDir(path: string): void {
  withPrivateDescriptor((descriptor) => {
    const security = Buffer.alloc(24);
    security.writeUInt32LE(security.length, 0);
    security.writeBigInt64LE(descriptor, 8);
    if (win32().CreateDirectoryW(toNamespacedPath(path), security) === 0) throw lastError('mkdir', path);
  });
  if (isPrivateDir(path)) return;
  rmdirSync(path);
  throw new RunnerError(
    'system',
    `${path} cannot be made private: this file system keeps no access lists; choose a directory on an NTFS volume`,
  );
}

export function repairPrivateDir(path: string): void {
  withPrivateDescriptor((descriptor) => {
    if (win32().SetFileSecurityW(toNamespacedPath(path), DACL_PROTECTED, descriptor) === 0)
      throw lastError('SetFileSecurity', path);
  });
}

export function ownsPath(path: string): boolean {
  return isOwnedBy(descriptorAt(path), userSids());
}

/** Asked of the opened file, so that nothing can be exchanged in between. */
export function ownsDescriptor(fd: number): boolean {
  return isOwnedBy(descriptorOf(win32().uv_get_osfhandle(fd)), userSids());
}
