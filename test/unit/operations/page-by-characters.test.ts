import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fitting,
  PAGE_MAX_CHARS,
  type Page,
  pageFrom,
  pageOf,
  readable,
} from '../../../runner-core/operations/page.ts';

const odd = fc.constantFrom(
  'a',
  'é',
  '漢',
  '😀',
  '\u0000',
  '\u0007',
  '\u001b[31m',
  '\u2028',
  '"',
  '\\',
  '\n',
  '\r',
  '\ufeff',
  'e\u0301',
);
const text = fc.array(odd, { maxLength: 200 }).map((parts) => parts.join(''));
const bytes = fc.oneof(
  text.map((value) => Buffer.from(value)),
  fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value)),
  fc
    .tuple(text, fc.uint8Array({ maxLength: 5 }), text)
    .map(([a, b, c]) => Buffer.concat([Buffer.from(a), b, Buffer.from(c)])),
);

function bytesOf(page: Page): Buffer {
  return page.base64 === undefined ? Buffer.from(page.text ?? '') : Buffer.from(page.base64, 'base64');
}

function readThrough(data: Buffer, page: (offset: number) => Page): Buffer {
  const parts: Buffer[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const next: Page = page(offset);
    parts.push(bytesOf(next));
    if (next.next_offset !== null) expect(next.next_offset).toBeGreaterThan(offset);
    offset = next.next_offset;
  }
  expect(parts.length).toBeLessThanOrEqual(data.length + 1);
  return Buffer.concat(parts);
}

describe('pages', () => {
  test('of any size give back any bytes, and always go on', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 400 }), (data, maxBytes) => {
        expect(readThrough(data, (offset) => pageOf(data, offset, maxBytes)).equals(data)).toBe(true);
      }),
    );
  });

  test('are no longer in JSON than allowed', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 12, max: 300 }), (data, maxChars) => {
        const page = (offset: number) => pageFrom(data.subarray(offset), offset, data.length, maxChars);
        for (let offset: number | null = 0; offset !== null; ) {
          const next: Page = page(offset);
          expect(JSON.stringify(next.text ?? next.base64 ?? '').length - 2).toBeLessThanOrEqual(maxChars);
          offset = next.next_offset;
        }
        expect(readThrough(data, page).equals(data)).toBe(true);
      }),
    );
  });

  test('of text that is cut between characters stay text', () => {
    fc.assert(
      fc.property(
        text.filter((value) => !value.includes('\0')),
        fc.integer({ min: 4, max: 50 }),
        (value, maxBytes) => {
          const data = Buffer.from(value);
          for (let offset: number | null = 0; offset !== null; ) {
            const page: Page = pageOf(data, offset, maxBytes);
            expect(page.base64).toBeUndefined();
            offset = page.next_offset;
          }
        },
      ),
    );
  });

  test('of control characters alone, which JSON writes sixfold, still fit', () => {
    const data = Buffer.alloc(48 * 1024, 1);
    const page = pageOf(data, 0, data.length);
    expect(JSON.stringify(page).length).toBeLessThan(50_000);
    expect(page.next_offset).toBe(PAGE_MAX_CHARS / 6);
  });
});

test('fitting never cuts a character in two', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 100 }), (value, maxChars) => {
      const head = value.slice(0, fitting(value, maxChars));
      expect(Buffer.from(head).toString('utf8')).toBe(head);
    }),
  );
});

test('readable text shows what it could not decode', () => {
  expect(readable(Buffer.from([0x61, 0xff, 0x00, 0x62]))).toEqual({ text: 'a\ufffd\u2400b', replaced: true });
  expect(readable(Buffer.from('a\u001b[0m\u2028é'))).toEqual({ text: 'a\u001b[0m\u2028é', replaced: false });
});
