import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  environmentBlock,
  uniqueVariables,
  variableKey,
  variableOf,
} from '../../../runner-core/platform/windows-environment.ts';

const name = fc.string({ unit: fc.constantFrom(...'aAbB_1é'), minLength: 1, maxLength: 4 });
const environment = fc.dictionary(
  name,
  fc.string().map((text) => text.replaceAll('\0', '')),
);

test('a variable is found whatever its spelling, and the last spelling counts', () => {
  expect(variableOf({ Path: 'a', PATH: 'b' }, 'path')).toBe('b');
  expect(variableOf({ Path: 'a' }, 'PATH')).toBe('a');
  expect(variableOf({}, 'PATH')).toBeUndefined();
});

test('each name is there once, with its last value, in the order that Windows asks for', () => {
  fc.assert(
    fc.property(environment, (env) => {
      const unique = uniqueVariables(env);
      const keys = unique.map(([key]) => variableKey(key));
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toEqual(keys.toSorted());
      for (const [key, value] of unique) expect(value).toBe(variableOf(env, key));
      expect(new Set(keys)).toEqual(new Set(Object.keys(env).map(variableKey)));
    }),
  );
});

test('the block holds every variable, each ended by a NUL, and one more NUL', () => {
  const block = environmentBlock({ b: '2', A: '1', Gone: undefined, '=C:': 'C:\\x' });
  expect(block.toString('utf16le')).toBe('A=1\0b=2\0\0');
  expect(environmentBlock({}).toString('utf16le')).toBe('\0\0');
});
