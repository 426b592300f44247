/**
 * Milliseconds on the machine's monotonic clock, the same for every process of one boot (CLOCK_MONOTONIC on Linux,
 * where it stands still while the machine sleeps): a later supervisor goes on counting where a dead one stopped.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/** The same clock's reading at a moment given by the wall clock (epoch ms). */
export function monotonicAt(epochMs: number): number {
  return monotonicMs() - (Date.now() - epochMs);
}
