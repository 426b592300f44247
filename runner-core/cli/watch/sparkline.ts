/** How much a log grew, a column for each stretch of time. */
const BARS = '▁▂▃▄▅▆▇█';

export class Growth {
  readonly #stretchMs: number;
  readonly #count: number;
  #bytes: number | undefined;
  /** Number of the stretch, and the bytes that came in it. */
  readonly #stretches = new Map<number, number>();

  constructor(options: { stretchMs: number; count: number }) {
    this.#stretchMs = options.stretchMs;
    this.#count = options.count;
  }

  /** The log has so many bytes now. What it had when it was first seen is nobody's growth. */
  note(bytes: number, nowMs: number): void {
    const grown = this.#bytes === undefined ? 0 : Math.max(0, bytes - this.#bytes);
    this.#bytes = bytes;
    const now = Math.floor(nowMs / this.#stretchMs);
    for (const stretch of this.#stretches.keys()) {
      if (stretch <= now - this.#count) this.#stretches.delete(stretch);
    }
    if (grown > 0) this.#stretches.set(now, (this.#stretches.get(now) ?? 0) + grown);
  }

  /** The latest stretches, the newest last; a dot where nothing came. The scale is logarithmic: a byte is to be seen. */
  line(nowMs: number): string {
    const now = Math.floor(nowMs / this.#stretchMs);
    const bytes = Array.from({ length: this.#count }, (_, at) => {
      return this.#stretches.get(now - this.#count + 1 + at) ?? 0;
    });
    const most = Math.log1p(Math.max(...bytes));
    return bytes
      .map((count) => {
        if (count === 0) return '·';
        const level = Math.round((Math.log1p(count) / most) * (BARS.length - 1));
        return BARS[level] ?? '·';
      })
      .join('');
  }
}
