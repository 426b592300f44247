import type { ServerNotification } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../runner-core/index.ts';

/** Often at first, then rarer: a fifth of the time waited so far, within these bounds. News do not wait for the upper one. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 15_000;

export interface Progress {
  readonly tell: NonNullable<Caller['onProgress']>;
  /** Nothing may follow the answer. */
  stop(): void;
}

/** Progress of one call: seconds waited so far, which can only grow, and how the jobs stand. */
export function progressTo(
  token: string | number,
  send: (notification: ServerNotification) => Promise<void>,
): Progress {
  const startedMs = performance.now();
  let open = true;
  let last = { atMs: Number.NEGATIVE_INFINITY, settled: -1, secs: -1 };
  return {
    tell: ({ settled, message }) => {
      const now = performance.now();
      const since = now - last.atMs;
      const secs = Math.floor((now - startedMs) / 100) / 10;
      const usual = Math.min(Math.max((now - startedMs) / 5, SHORTEST_MS), LONGEST_MS);
      const due = since >= usual || (settled !== last.settled && since >= SHORTEST_MS);
      if (!open || !due || secs <= last.secs) return;
      last = { atMs: now, settled, secs };
      const params = { progressToken: token, progress: secs, message: message() };
      // A client that is gone is noticed by its pipes.
      send({ method: 'notifications/progress', params }).catch(() => undefined);
    },
    stop: () => {
      open = false;
    },
  };
}
