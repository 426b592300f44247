import type { ServerNotification } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../runner-core/index.ts';

/** News are told at once, but not more often than this. */
const SHORTEST_MS = 1000;
/** Without news something is still told this often: clients that give up on silence do so after minutes. */
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
      const due = since >= LONGEST_MS || (settled !== last.settled && since >= SHORTEST_MS);
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
