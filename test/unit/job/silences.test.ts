import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Silences } from '../../../runner-core/job/silences.ts';

test('long stretches are kept in order, as seconds after the start', () => {
  const silences = new Silences(1000);
  silences.note(1000, 2000);
  silences.note(2000, 32_040);
  silences.note(40_000, 51_000);
  expect(silences.list()).toEqual([
    [1, 31],
    [39, 50],
  ]);
});

test('however many there are, a few are kept: the longest', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 200 }), (lengths) => {
      const silences = new Silences(0);
      let at = 0;
      for (const length of lengths) {
        silences.note(at, at + length);
        at += length;
      }
      const long = lengths.filter((length) => length >= 10_000).sort((a, b) => b - a);
      const kept = silences.list();
      expect(kept).toHaveLength(Math.min(24, long.length));
      const shortest = Math.min(...kept.map(([from, to]) => to - from));
      if (long.length > 24) expect(shortest * 1000).toBeGreaterThanOrEqual((long[23] ?? 0) - 200);
      expect(kept.map(([from]) => from)).toEqual(kept.map(([from]) => from).sort((a, b) => a - b));
    }),
  );
});
