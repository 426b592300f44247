import { MAX_TOKEN_LENGTH } from '../limits.ts';

const TOKEN = /^[A-Za-z0-9._-]+$/;
const JOB_ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

/** True for a name that is safe as one path component: `[A-Za-z0-9._-]+`, not all dots, at most 255 characters. */
export function isSafeToken(value: string): boolean {
  return TOKEN.test(value) && !/^\.+$/.test(value) && value.length <= MAX_TOKEN_LENGTH;
}

/**
 * A name that Windows keeps for a device, or reads without its end (learn.microsoft.com/windows/win32/fileio/naming-a-file):
 * most programs there could neither open nor remove a folder that has it.
 */
export function isReservedOnWindows(name: string): boolean {
  return /\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name);
}

/** A job id for a moment in UTC and eight random hex digits: `20261130T121741Z-0a1b2c3d`. */
export function formatJobId(at: Date, hex8: string): string {
  return `${at.toISOString().replace(/[-:]/g, '').slice(0, 15)}Z-${hex8}`;
}

export function isJobId(value: string): boolean {
  return JOB_ID.test(value);
}

/** A moment as the records write it: UTC, whole seconds, `2026-11-30T12:17:41Z`. */
export function formatMoment(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
