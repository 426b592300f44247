/** The aggregate deadline over several jobs. Moments are epoch milliseconds. */

/** When the window over these jobs closes: `windowSecs` after the last start; with no known start it is over now. */
export function deadlineAtMs(startsMs: readonly number[], windowSecs: number, nowMs: number): number {
  return startsMs.length === 0 ? nowMs : Math.max(...startsMs) + windowSecs * 1000;
}

/** Whole seconds left, never negative. */
export function secsLeft(deadlineMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000));
}
