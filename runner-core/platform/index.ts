import { darwinTable } from './darwin.ts';
import { linuxTable } from './linux.ts';
import type { Platform } from './port.ts';
import { createPosixPlatform } from './posix.ts';

/** The one place that asks which operating system this is. */
export const platform: Platform = createPosixPlatform(
  process.platform === 'linux' ? linuxTable : darwinTable,
);

export type * from './port.ts';
