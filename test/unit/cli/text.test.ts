import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  columnsOf,
  cutTo,
  duration,
  LINE_MAX_CHARS,
  overwritten,
  padTo,
  size,
  visible,
  visibleLine,
  visibleLines,
  wrapTo,
} from '../../../runner-core/cli/text.ts';

/** Text in which control characters, escapes and wide characters are frequent. */
const wild = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;t\u0007',
        '\u009b1m',
        '\u001b',
        '\r',
        '\b',
        '\u0000',
        '\u202e',
        '漢',
        '👩‍👩‍👧',
        '\ud800',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('visible', () => {
  test('nothing that it gives steers a terminal', () => {
    fc.assert(fc.property(wild, (text) => !CONTROL.test(visible(text))));
  });

  test('a line stays one line', () => {
    fc.assert(fc.property(wild, (text) => !/[\n\r]/.test(visibleLine(text))));
  });

  test.for([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['a\u0007b', 'a\u2407b'],
    ['nul\u0000', 'nul\u2400'],
    ['\u001b', '\u241b'],
    ['del\u007f', 'del\u2421'],
    ['\u202eevil', '<U+202E>evil'],
    ['\ufeffmark', '<U+FEFF>mark'],
    ['half \ud83d', 'half <U+D83D>'],
    ['a\tb', 'a  b'],
    ['👩‍👩‍👧 é 漢', '👩‍👩‍👧 é 漢'],
  ] as const)('%j is shown as %j', ([text, shown]) => {
    expect(visible(text)).toBe(shown);
  });
});

describe('lines', () => {
  test('of a line that carriage returns overwrote, what was there last', () => {
    expect(overwritten('10%\r50%\r100%')).toBe('100%');
    expect(overwritten('100%\r')).toBe('100%');
    expect(overwritten('plain')).toBe('plain');
  });

  test('windows line ends are line ends, and empty lines at the end are left out', () => {
    expect(visibleLines('a\r\nb\n\n\n')).toEqual(['a', 'b']);
    expect(visibleLines('')).toEqual([]);
  });

  test('a very long line is cut, and says so', () => {
    const line = visibleLine('x'.repeat(5_000_000));
    expect(line.length).toBeLessThan(LINE_MAX_CHARS + 100);
    expect(line).toContain('more characters');
  });
});

describe('columns', () => {
  test('what is cut or padded has the width that was asked for, also of wide characters', () => {
    fc.assert(
      fc.property(wild.map(visibleLine), fc.integer({ min: 0, max: 60 }), (text, columns) => {
        expect(columnsOf(cutTo(text, columns))).toBeLessThanOrEqual(columns);
        expect(columnsOf(padTo(text, columns))).toBe(columns);
      }),
    );
  });

  test('what fits is left alone', () => {
    expect(cutTo('漢字', 4)).toBe('漢字');
    expect(cutTo('漢字', 3)).toBe('漢…');
  });
});

describe('wrapTo', () => {
  test.for([
    ['', 5, ['']],
    ['fits', 4, ['fits']],
    ['one two three', 7, ['one two', 'three']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['漢字漢字', 5, ['漢字', '漢字']],
  ] as const)('%j in %i columns is %j', ([text, columns, lines]) => {
    expect(wrapTo(text, columns)).toEqual(lines);
  });
});

describe('numbers', () => {
  test.for([
    [null, '-'],
    [0, '0s'],
    [59.9, '59s'],
    [61, '1m01s'],
    [3660, '1h01m'],
    [90_000, '1d01h'],
  ] as const)('%j seconds are %s', ([secs, text]) => {
    expect(duration(secs)).toBe(text);
  });

  test.for([
    [null, '?'],
    [1023, '1023 B'],
    [1536, '1.5 KiB'],
    [10 * 1024 * 1024, '10 MiB'],
  ] as const)('%j bytes are %s', ([bytes, text]) => {
    expect(size(bytes)).toBe(text);
  });
});
