import { setTimeout as sleep } from 'node:timers/promises';

const interruption = new AbortController();

/** Aborted by the first Ctrl-C or request to end: the run is given up, and what it began is ended. */
export const interrupted: AbortSignal = interruption.signal;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => interruption.abort(new Error(`interrupted by ${signal}`)));
}

/** Rejects when the run is interrupted. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: interrupted }).catch(() => interrupted.throwIfAborted());
}
