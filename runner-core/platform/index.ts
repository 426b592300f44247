import { darwinTable } from './darwin.ts';
import { linuxTable } from './linux.ts';
import type { Platform } from './port.ts';
import { createPosixPlatform } from './posix.ts';
import { windowsPlatform } from './win32.ts';

/** The one place that asks which operating system this is. */
export const platform: Platform =
  process.platform === 'win32'
    ? windowsPlatform
    : createPosixPlatform(process.platform === 'linux' ? linuxTable : darwinTable);

export type * from './port.ts';
