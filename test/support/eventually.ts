import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const POLL_MS = 20;

/**
 * Waits until `probe` gives something truthy, and gives that back. A probe that throws has not succeeded yet.
 * After `deadlineMs` it throws, and says what the probe gave or threw last.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  deadlineMs = 60_000,
): Promise<Exclude<Awaited<T>, null | undefined | false | 0 | ''>> {
  const endMs = performance.now() + deadlineMs;
  let last = '';
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (isTruthy(value)) return value;
      last = `it last gave ${inspect(value, { breakLength: Number.POSITIVE_INFINITY })}`;
      cause = undefined;
    } catch (error) {
      last = `it last threw ${error instanceof Error ? error.message : inspect(error)}`;
      cause = error;
    }
    if (performance.now() >= endMs) {
      throw new Error(`not within ${deadlineMs} ms: ${String(probe).replace(/\s+/g, ' ')}; ${last}`, {
        cause,
      });
    }
    await delay(POLL_MS);
  }
}

function isTruthy<T>(value: T): value is Exclude<T, null | undefined | false | 0 | ''> {
  return Boolean(value);
}
