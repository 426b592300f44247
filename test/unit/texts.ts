/** Texts that go wrong where anything can: for properties, and quick to make. */
import * as fc from 'fast-check';

const CHARACTERS = [
  ...'aZ09 ._-/\\"\'*?[]{}$%=~:;|&<>',
  '\0',
  '\t',
  '\n',
  '\r',
  '\u001b',
  '\u007f',
  '\u0085',
  'é',
  'ß',
  '€',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '😀',
  '\u{10ffff}',
];

export function texts(options: { maxLength?: number; minLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...CHARACTERS), ...options });
}

/** Any value that JSON can write, with such texts in it. */
export const jsonValues: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0.5, -1.25),
    fc.maxSafeInteger(),
    texts({ maxLength: 10 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(texts({ maxLength: 5 }), tie('value'), { maxKeys: 4 }),
  ),
})).value;
