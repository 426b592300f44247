import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogCleaner } from '../../../runner-core/cli/people/log-cleaner.ts';

function clean(...chunks: (string | Buffer)[]): string {
  const cleaner = new LogCleaner();
  return chunks.map((chunk) => cleaner.push(Buffer.from(chunk))).join('') + cleaner.end();
}

test('plain lines come as they are, and the last one gets its end', () => {
  expect(clean('one\ntwo')).toBe('one\ntwo\n');
  expect(clean('')).toBe('');
});

test('a character that is cut between two chunks is whole', () => {
  const bytes = Buffer.from('漢字\n');
  expect(clean(bytes.subarray(0, 2), bytes.subarray(2))).toBe('漢字\n');
});

test('an escape sequence that is cut between two chunks does not pass', () => {
  expect(clean('a\u001b[3', '1mred\u001b[0m\n')).toBe('ared\n');
});

test('a line without an end is shown as far as it has come', () => {
  const cleaner = new LogCleaner();
  expect(cleaner.push(Buffer.from('Password: '))).toBe('Password: ');
  expect(cleaner.push(Buffer.from('ok\n'))).toBe('ok\n');
});

test('of a progress line, only what was there last', () => {
  expect(clean('1%\r2', '%\r3%\nnext\n')).toBe('3%\nnext\n');
});

test('of a line of 5 MB only the beginning is held and shown', () => {
  const cleaner = new LogCleaner();
  const chunk = Buffer.from('x'.repeat(64 * 1024));
  let shown = '';
  for (let count = 0; count < 80; count += 1) shown += cleaner.push(chunk);
  shown += cleaner.push(Buffer.from('\nafter\n'));
  expect(shown.length).toBeLessThan(5000);
  expect(shown).toContain(`${80 * 64 * 1024 - 4096} more characters`);
  expect(shown.endsWith('after\n')).toBe(true);
});

test('however it is cut, nothing in it steers a terminal', () => {
  const piece = fc.oneof(
    fc.constantFrom('\u001b', '[31m', '\u001b]0;', '\u0007', '\r', '\n', '\u009b', 'text', '\u001b[2J'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
      return !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(clean(...pieces));
    }),
  );
});
