import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Page, pageFrom, pageOf } from '../../../runner-core/operations/page.ts';
import { texts } from '../texts.ts';

function bytesOf(page: Page): Buffer {
  return page.base64 === undefined ? Buffer.from(page.text ?? '') : Buffer.from(page.base64, 'base64');
}

/** Every page from the beginning to the end. */
function pagesOf(data: Buffer, maxBytes: number): Page[] {
  const pages: Page[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: Page = pageOf(data, offset, maxBytes);
    pages.push(page);
    if (page.next_offset !== null && page.next_offset <= offset) throw new Error(`stuck at ${offset}`);
    offset = page.next_offset;
  }
  return pages;
}

const sizes = fc.integer({ min: 1, max: 40 });
const somethings = texts({ maxLength: 60 });
/** Text and bytes that are none, next to each other. */
const mixtures = fc
  .array(
    fc.oneof(
      somethings.map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 10 }).map((data) => Buffer.from(data)),
    ),
  )
  .map((parts) => Buffer.concat(parts));

describe('the pages of any data', () => {
  test('put together are its bytes exactly, for any page size', () => {
    fc.assert(
      fc.property(mixtures, sizes, (data, maxBytes) => {
        expect(Buffer.concat(pagesOf(data, maxBytes).map(bytesOf)).equals(data)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('each begin where the one before ended, and advance', () => {
    fc.assert(
      fc.property(mixtures, sizes, (data, maxBytes) => {
        let offset = 0;
        for (const page of pagesOf(data, maxBytes)) {
          expect(page.offset).toBe(offset);
          expect(page.total_bytes).toBe(data.length);
          offset += bytesOf(page).length;
          expect(page.next_offset).toBe(offset < data.length ? offset : null);
        }
      }),
    );
  });

  test('are never longer than was asked for', () => {
    fc.assert(
      fc.property(mixtures, sizes, (data, maxBytes) => {
        for (const page of pagesOf(data, maxBytes))
          expect(bytesOf(page).length).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });

  test('have text or base64, one of them', () => {
    fc.assert(
      fc.property(mixtures, sizes, (data, maxBytes) => {
        for (const page of pagesOf(data, maxBytes))
          expect([page.text, page.base64].filter((part) => part !== undefined)).toHaveLength(1);
      }),
    );
  });
});

describe('the pages of text', () => {
  const withoutNul = somethings.map((text) => text.replaceAll('\0', ''));

  test('are text, cut between characters, as long as a page holds any character whole', () => {
    fc.assert(
      fc.property(withoutNul, fc.integer({ min: 4, max: 40 }), (text, maxBytes) => {
        const pages = pagesOf(Buffer.from(text), maxBytes);
        expect(pages.map((page) => page.text ?? '<base64>').join('')).toBe(Buffer.from(text).toString());
        for (const page of pages)
          expect(page.text).not.toContain('\ufffd'.repeat(text.includes('\ufffd') ? 99 : 1));
      }),
      { numRuns: 500 },
    );
  });

  test('keep a byte order mark, also one in the middle', () => {
    const data = Buffer.from('\ufeffa\ufeffb');
    expect(pagesOf(data, 100)).toEqual([
      { text: '\ufeffa\ufeffb', offset: 0, next_offset: null, total_bytes: 8 },
    ]);
    expect(Buffer.concat(pagesOf(data, 4).map(bytesOf)).equals(data)).toBe(true);
  });

  test('leave a character that does not fit to the next page', () => {
    expect(pageOf(Buffer.from('ab€c'), 0, 4)).toEqual({
      text: 'ab',
      offset: 0,
      next_offset: 2,
      total_bytes: 6,
    });
    expect(pageOf(Buffer.from('ab€c'), 2, 4)).toEqual({
      text: '€c',
      offset: 2,
      next_offset: null,
      total_bytes: 6,
    });
  });

  test('are shorter where JSON would write more characters than a client takes', () => {
    const escaped = Buffer.from('\u001b'.repeat(1000));
    for (let offset = 0; offset < escaped.length; ) {
      const page = pageFrom(escaped.subarray(offset), offset, escaped.length, 100);
      expect(JSON.stringify(page.text).length - 2).toBeLessThanOrEqual(100);
      expect(page.next_offset ?? Number.POSITIVE_INFINITY).toBeGreaterThan(offset);
      offset = page.next_offset ?? escaped.length;
    }
  });

  test('never are longer than their characters allow, for any text and bound', () => {
    fc.assert(
      fc.property(mixtures, fc.integer({ min: 12, max: 80 }), (data, maxChars) => {
        const page = pageFrom(data, 0, data.length, maxChars);
        expect(JSON.stringify(page.text ?? page.base64 ?? '').length - 2).toBeLessThanOrEqual(maxChars);
        if (data.length > 0) expect(bytesOf(page).length).toBeGreaterThan(0);
        expect(bytesOf(page).equals(data.subarray(0, bytesOf(page).length))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('what is no text', () => {
  test.each([
    ['a NUL', Buffer.from('a\0b')],
    ['a byte that UTF-8 does not have', Buffer.from([0x61, 0xff])],
    ['a character cut off at the end', Buffer.from('a€').subarray(0, 3)],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['a character in too many bytes', Buffer.from([0xc0, 0xaf])],
  ])('comes as base64, every byte as it is: %s', (_what, data) => {
    expect(pageOf(data, 0, 100)).toEqual({
      base64: data.toString('base64'),
      offset: 0,
      next_offset: null,
      total_bytes: data.length,
    });
  });

  test('does not spoil the text before and after it in other pages', () => {
    const data = Buffer.concat([Buffer.from('aaaa'), Buffer.from([0xff, 0, 0xff, 0]), Buffer.from('bbbb')]);
    expect(pagesOf(data, 4).map((page) => page.text ?? 'base64')).toEqual(['aaaa', 'base64', 'bbbb']);
  });
});

test('a page from the end, from beyond it, or of nothing is empty and the last one', () => {
  for (const offset of [3, 4, 1000]) {
    expect(pageOf(Buffer.from('abc'), offset, 10)).toEqual({
      text: '',
      offset,
      next_offset: null,
      total_bytes: 3,
    });
  }
  expect(pageOf(Buffer.alloc(0), 0, 10)).toEqual({ text: '', offset: 0, next_offset: null, total_bytes: 0 });
});

test('a page of a file that has grown since its size was taken gives all its bytes', () => {
  expect(pageFrom(Buffer.from('abcdef'), 0, 3)).toMatchObject({ text: 'abcdef', next_offset: null });
});
