import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isOwnedBy,
  letsOnlyIn,
  parseSecurityDescriptor,
  privateDirectorySddl,
  sidText,
} from '../../../runner-core/platform/windows-security.ts';

const USER = 'S-1-5-21-1-2-3-1001';
const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
const EVERYONE = 'S-1-1-0';

interface Entry {
  readonly type?: number;
  readonly flags?: number;
  readonly mask?: number;
  readonly sid: string;
}

function sidBytes(text: string): Buffer {
  const [, revision = 1, authority = 0, ...parts] = text.split('-').map(Number);
  const bytes = Buffer.alloc(8 + 4 * parts.length);
  bytes.writeUInt8(revision, 0);
  bytes.writeUInt8(parts.length, 1);
  bytes.writeUIntBE(authority, 2, 6);
  for (const [index, part] of parts.entries()) bytes.writeUInt32LE(part, 8 + 4 * index);
  return bytes;
}

/** A self-relative descriptor as the kernel gives it. */
function descriptor(owner: string, entries: readonly Entry[] | undefined, isProtected = true): Buffer {
  const aces = (entries ?? []).map(({ type = 0, flags = 3, mask = 0x1f01ff, sid }) => {
    const body = sidBytes(sid);
    const head = Buffer.alloc(8);
    head.writeUInt8(type, 0);
    head.writeUInt8(flags, 1);
    head.writeUInt16LE(8 + body.length, 2);
    head.writeUInt32LE(mask, 4);
    return Buffer.concat([head, body]);
  });
  const acl = Buffer.alloc(8);
  acl.writeUInt8(2, 0);
  acl.writeUInt16LE(8 + aces.reduce((sum, ace) => sum + ace.length, 0), 2);
  acl.writeUInt16LE(aces.length, 4);
  const head = Buffer.alloc(20);
  const ownerBytes = sidBytes(owner);
  head.writeUInt8(1, 0);
  head.writeUInt16LE(0x8000 | (entries ? 4 : 0) | (isProtected ? 0x1000 : 0), 2);
  head.writeUInt32LE(20, 4);
  if (entries) head.writeUInt32LE(20 + ownerBytes.length, 16);
  return Buffer.concat([head, ownerBytes, ...(entries ? [acl, ...aces] : [])]);
}

const part = fc.integer({ min: 0, max: 0xffff_ffff });
const sid = fc.tuple(
  fc.constantFrom(1, 5, 15, 0xff_ffff_ffff),
  fc.array(part, { minLength: 1, maxLength: 15 }),
);
const sidString = sid.map(([authority, parts]) => `S-1-${authority}-${parts.join('-')}`);

describe('a security descriptor', () => {
  test('of any owner and entries is read as it was made', () => {
    fc.assert(
      fc.property(
        sidString,
        fc.array(fc.record({ sid: sidString, mask: part })),
        fc.boolean(),
        (owner, entries, p) => {
          const read = parseSecurityDescriptor(descriptor(owner, entries, p));
          expect(read.owner).toBe(owner);
          expect(read.isProtected).toBe(p);
          expect(read.entries?.map(({ sid: who, mask }) => ({ sid: who, mask }))).toEqual(entries);
        },
      ),
    );
  });

  test('lets only the user in where nobody else but system and administrators has an entry', () => {
    const entries = [{ sid: USER }, { sid: SYSTEM }, { sid: ADMINISTRATORS }, { sid: 'S-1-3-0', flags: 0xb }];
    expect(letsOnlyIn(parseSecurityDescriptor(descriptor(USER, entries)), [USER])).toBe(true);
  });

  test.each<[string, Entry[] | undefined]>([
    ['no list at all', undefined],
    ['everyone, to read', [{ sid: USER }, { sid: EVERYONE, mask: 0x1200a9 }]],
    ['everyone, only by inheritance', [{ sid: EVERYONE, flags: 0xb }]],
    ['another user', [{ sid: 'S-1-5-21-1-2-3-1002' }]],
    ['whoever creates it, now', [{ sid: 'S-1-3-0', flags: 3 }]],
    ['an entry of a type unknown here', [{ sid: USER, type: 9 }]],
  ])('with %s does not', (_, entries) => {
    expect(letsOnlyIn(parseSecurityDescriptor(descriptor(USER, entries)), [USER])).toBe(false);
  });

  test('may deny whom it wants', () => {
    expect(letsOnlyIn(parseSecurityDescriptor(descriptor(USER, [{ sid: EVERYONE, type: 1 }])), [USER])).toBe(
      true,
    );
  });

  test('is the user’s by the owner alone', () => {
    const read = parseSecurityDescriptor(descriptor(ADMINISTRATORS, []));
    expect(isOwnedBy(read, [USER])).toBe(false);
    expect(isOwnedBy(read, [USER, ADMINISTRATORS])).toBe(true);
  });
});

describe('the rules of a private directory', () => {
  test('are protected, inherited, and name each trusted one once', () => {
    expect(privateDirectorySddl([USER, ADMINISTRATORS])).toBe(
      `O:${USER}D:P(A;OICI;FA;;;${USER})(A;OICI;FA;;;${ADMINISTRATORS})(A;OICI;FA;;;${SYSTEM})`,
    );
  });

  test('are never made of a text that is no SID', () => {
    for (const text of ['', 'WD', `${USER})(A;;FA;;;WD`, 'S-1-5-x'])
      expect(() => privateDirectorySddl([text])).toThrow(TypeError);
    expect(() => privateDirectorySddl([])).toThrow(TypeError);
  });
});

test('a SID is written as Windows writes it', () => {
  expect(sidText(sidBytes(ADMINISTRATORS))).toBe(ADMINISTRATORS);
});
