import { win32 } from './win32-api.ts';

/** winerror.h, where Node's own layer would give these names (libuv, src/win/error.c). */
const ERRNO: Readonly<Record<number, string>> = {
  2: 'ENOENT',
  3: 'ENOENT',
  5: 'EPERM',
  8: 'ENOMEM',
  32: 'EBUSY',
  80: 'EEXIST',
  112: 'ENOSPC',
  183: 'EEXIST',
  193: 'ENOEXEC',
  206: 'ENAMETOOLONG',
  267: 'ENOTDIR',
};

const MEANING: Readonly<Record<number, string>> = {
  2: 'the file was not found',
  5: 'access is denied',
  193: 'it is not a Windows program; name its interpreter first',
  206: 'a name is too long',
  267: 'the folder cannot be entered',
  740: 'it demands administrator rights',
};

/** The last failure of a raw call on this thread, as an error like those of `node:fs`. Ask before any other call. */
export function lastError(call: string, subject?: string): Error {
  const number = win32().GetLastError();
  const meaning = MEANING[number] ?? `Windows error ${number}`;
  const error = new Error(`${call}${subject === undefined ? '' : ` '${subject}'`}: ${meaning}`);
  return Object.assign(error, { code: ERRNO[number] ?? 'EIO', syscall: call, errno: -number });
}
