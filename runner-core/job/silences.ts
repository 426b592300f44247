/** When a job had nothing to say: the stretches between two growths of its log. Moments are milliseconds. */

/** A shorter one is no news. */
const SHORTEST_MS = 10_000;
/** So many are kept, the longest: a record stays small however often a job falls silent. */
const KEPT = 24;

export class Silences {
  readonly #startedMs: number;
  #found: { readonly fromMs: number; readonly toMs: number }[] = [];

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** The log grew at `toMs`, and before that at `fromMs`. */
  note(fromMs: number, toMs: number): void {
    if (toMs - fromMs < SHORTEST_MS) return;
    this.#found.push({ fromMs, toMs });
    if (this.#found.length <= KEPT) return;
    const shortest = this.#found.reduce((a, b) => (b.toMs - b.fromMs < a.toMs - a.fromMs ? b : a));
    this.#found = this.#found.filter((one) => one !== shortest);
  }

  /** In order, as seconds after the start. */
  list(): [number, number][] {
    const secs = (ms: number): number => Math.round((ms - this.#startedMs) / 100) / 10;
    return this.#found.map(({ fromMs, toMs }) => [secs(fromMs), secs(toMs)]);
  }
}
