import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatJobId,
  formatMoment,
  isJobId,
  isReservedOnWindows,
  isSafeToken,
} from '../../../runner-core/job/id.ts';

const tokenCharacters = [...'ABCXYZabcxyz0189._-'];

describe('a skill, run id or label', () => {
  test('is made of letters, digits, dot, underscore and hyphen', () => {
    for (const name of ['a', 'ce-review', 'Run_2.1', '..a', '-x', '2026'])
      expect(isSafeToken(name)).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['a slash', 'a/b'],
    ['a backslash', 'a\\b'],
    ['a space', 'a b'],
    ['a line end at its end', 'a\n'],
    ['a NUL', 'a\0'],
    ['a glob', 'a*'],
    ['beyond ASCII', 'é'],
    ['a colon', 'C:'],
  ])('is refused: %s', (_what, name) => {
    expect(isSafeToken(name)).toBe(false);
  });

  test.each(['nul', 'CON', 'aux.old', 'Com1', 'lpt9.x.y', 'run.'])(
    'cannot name a folder on Windows: %s',
    (name) => {
      expect(isReservedOnWindows(name)).toBe(true);
    },
  );

  test.each(['null', 'con-1', 'com', 'com10', 'x.con', '.nul', 'run.1'])('can name one there: %s', (name) => {
    expect(isReservedOnWindows(name)).toBe(false);
  });

  test('is refused when it is all dots, however many', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 300 }), (count) => !isSafeToken('.'.repeat(count))));
  });

  test('may be as long as a file name and no longer', () => {
    expect(isSafeToken('a'.repeat(255))).toBe(true);
    expect(isSafeToken('a'.repeat(256))).toBe(false);
  });

  test('that is accepted names one entry of its folder, for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), (text) => {
        if (isSafeToken(text)) expect(text).toMatch(/^(?!\.*$)[A-Za-z0-9._-]+$/);
      }),
    );
  });

  test('is accepted whenever it is made of the allowed characters and not all dots', () => {
    const names = fc.string({ unit: fc.constantFrom(...tokenCharacters), minLength: 1, maxLength: 255 });
    fc.assert(fc.property(names, (name) => isSafeToken(name) === !/^\.+$/.test(name)));
  });
});

const moments = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
});
const hex8 = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 8, maxLength: 8 });

describe('a job id', () => {
  test('is the UTC time of the start and eight hex digits', () => {
    expect(formatJobId(new Date('2026-11-30T12:17:41.999Z'), '0a1b2c3d')).toBe('20261130T121741Z-0a1b2c3d');
  });

  test('that was minted is told as one, and is a safe file name', () => {
    fc.assert(
      fc.property(moments, hex8, (at, digits) => {
        const id = formatJobId(at, digits);
        expect(isJobId(id)).toBe(true);
        expect(isSafeToken(id)).toBe(true);
      }),
    );
  });

  test('sorts as text by the time of the start', () => {
    fc.assert(
      fc.property(moments, moments, hex8, (one, other, digits) => {
        if (Math.floor(one.getTime() / 1000) < Math.floor(other.getTime() / 1000)) {
          expect(formatJobId(one, digits) < formatJobId(other, digits)).toBe(true);
        }
      }),
    );
  });

  test.each([
    '20261130T121741Z-0a1b2c3',
    '20261130T121741Z-0a1b2c3d4',
    '20261130T121741Z-0A1B2C3D',
    '20261130T121741-0a1b2c3d',
    'x20261130T121741Z-0a1b2c3d',
    '20261130T121741Z-0a1b2c3d\n',
    '',
  ])('is not seen in %j', (text) => {
    expect(isJobId(text)).toBe(false);
  });
});

test('moments are written in UTC with whole seconds, rounded down, and read back as such', () => {
  expect(formatMoment(new Date('2026-11-30T12:17:41.999Z'))).toBe('2026-11-30T12:17:41Z');
  fc.assert(
    fc.property(moments, (at) => {
      expect(Date.parse(formatMoment(at))).toBe(Math.floor(at.getTime() / 1000) * 1000);
    }),
  );
});
