/** Numbers out of samples. */

export function quantile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Three significant digits, without an exponent. */
export function brief(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(digits, 3));
}

/** Samples under the name of what was measured and of who was measured, in the order of their arrival. */
export class Samples {
  readonly #all = new Map<string, Map<string, number[]>>();

  add(measure: string, who: string, value: number): void {
    const row = this.#all.get(measure) ?? new Map<string, number[]>();
    this.#all.set(measure, row);
    row.set(who, [...(row.get(who) ?? []), value]);
  }

  of(measure: string, who: string): readonly number[] {
    return this.#all.get(measure)?.get(who) ?? [];
  }

  median(measure: string, who: string): number {
    return median(this.of(measure, who));
  }

  toJSON(): Record<string, Record<string, readonly number[]>> {
    const round = (values: readonly number[]) => values.map((value) => Number(value.toFixed(3)));
    return Object.fromEntries(
      [...this.#all].map(([measure, row]) => [
        measure,
        Object.fromEntries([...row].map(([who, values]) => [who, round(values)])),
      ]),
    );
  }
}

/** Milliseconds that `act` took, and what it gave. */
export async function timed<T>(act: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const from = performance.now();
  const value = await act();
  return { ms: performance.now() - from, value };
}
