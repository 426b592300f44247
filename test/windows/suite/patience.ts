import { eventually as within } from '../../support/eventually.ts';

/** Wine starts a process in a second, and on a machine with many times its work in a minute. */
export const PATIENCE_MS = 300_000;

/** Waits until `probe` gives something truthy, and gives that back: nobody here waits for a bound to pass. */
export function eventually<T>(
  probe: () => T | Promise<T>,
  deadlineMs = PATIENCE_MS,
): ReturnType<typeof within<T>> {
  return within(probe, deadlineMs);
}
