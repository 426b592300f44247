import { describe, expect, test } from 'vitest';
import { oursIsReference } from '../support/programs.ts';
import { expectShown, playBoth, sayIfSkipped, unavailable } from './compare.ts';
import { intendedDifferences } from './intended-differences.ts';

sayIfSkipped('intended differences');

describe.skipIf(unavailable)('intended differences', () => {
  for (const { id, differs, play, ...expected } of intendedDifferences) {
    test(`${id}: ${differs}`, async () => {
      const { reference, ours } = await playBoth(play);
      expectShown(reference, expected.reference);
      if (!oursIsReference) expectShown(ours, expected.ours);
    });
  }

  test('each has an id of its own, and really differs', () => {
    expect(new Set(intendedDifferences.map(({ id }) => id)).size).toBe(intendedDifferences.length);
    for (const { reference, ours } of intendedDifferences) expect(ours).not.toEqual(reference);
  });
});
