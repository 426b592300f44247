import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { deadlineAtMs, secsLeft } from '../../../runner-core/job/deadline.ts';

const moments = fc.integer({ min: 0, max: 4e12 });

test('the deadline over several jobs counts from the job that started last', () => {
  expect(deadlineAtMs([1_000, 5_000, 3_000], 60, 9_999)).toBe(65_000);
  fc.assert(
    fc.property(fc.array(moments, { minLength: 1 }), fc.nat(1e6), moments, (starts, secs, now) => {
      const at = deadlineAtMs(starts, secs, now);
      for (const start of starts) expect(at).toBeGreaterThanOrEqual(start + secs * 1000);
      expect(starts.map((start) => start + secs * 1000)).toContain(at);
    }),
  );
});

test('a deadline over jobs of which no start is known is over now', () => {
  expect(deadlineAtMs([], 3600, 1_234)).toBe(1_234);
});

test('the seconds left are whole, never negative, and 0 exactly when the deadline has come', () => {
  expect(secsLeft(10_001, 9_000)).toBe(2);
  fc.assert(
    fc.property(moments, moments, (deadline, now) => {
      const left = secsLeft(deadline, now);
      expect(Number.isInteger(left)).toBe(true);
      expect(left === 0).toBe(now >= deadline);
      expect(left * 1000).toBeGreaterThanOrEqual(deadline - now);
      expect(left).toBeGreaterThanOrEqual(0);
    }),
  );
});
