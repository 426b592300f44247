/** Owners and access lists as Windows keeps them: pure, on the bytes of a self-relative security descriptor. */

export interface AccessEntry {
  readonly type: number;
  readonly flags: number;
  readonly mask: number;
  readonly sid: string;
}

export interface SecurityDescriptor {
  readonly owner: string | undefined;
  /** Nothing is inherited from the folder above, now or later. */
  readonly isProtected: boolean;
  /** Undefined where there is no list at all, which lets everybody in. */
  readonly entries: readonly AccessEntry[] | undefined;
}

/** winnt.h: SECURITY_DESCRIPTOR_CONTROL */
const SE_DACL_PRESENT = 0x0004;
const SE_DACL_PROTECTED = 0x1000;
/** winnt.h: ACE types and flags */
const ACCESS_ALLOWED = 0;
const ACCESS_DENIED = 1;
const INHERIT_ONLY = 0x08;

const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
/** Whoever creates an object below, and whoever owns this one: both are held to be the user by the owner check. */
const CREATOR_OWNER = 'S-1-3-0';
const OWNER_RIGHTS = 'S-1-3-4';

/** The text of a SID (learn.microsoft.com/openspecs/windows_protocols/ms-dtyp, 2.4.2). */
export function sidText(bytes: Buffer, at = 0): string {
  const count = bytes.readUInt8(at + 1);
  const authority = bytes.readUIntBE(at + 2, 6);
  const parts = Array.from({ length: count }, (_, index) => bytes.readUInt32LE(at + 8 + 4 * index));
  return ['S', bytes.readUInt8(at), authority, ...parts].join('-');
}

/** Reads a self-relative descriptor (ms-dtyp, 2.4.6). Throws a RangeError where the bytes are none. */
export function parseSecurityDescriptor(bytes: Buffer): SecurityDescriptor {
  const control = bytes.readUInt16LE(2);
  const owner = bytes.readUInt32LE(4);
  const dacl = bytes.readUInt32LE(16);
  return {
    owner: owner === 0 ? undefined : sidText(bytes, owner),
    isProtected: (control & SE_DACL_PROTECTED) !== 0,
    entries: (control & SE_DACL_PRESENT) === 0 || dacl === 0 ? undefined : entriesAt(bytes, dacl),
  };
}

function entriesAt(bytes: Buffer, acl: number): AccessEntry[] {
  const entries: AccessEntry[] = [];
  let at = acl + 8;
  for (let left = bytes.readUInt16LE(acl + 4); left > 0; left -= 1) {
    const type = bytes.readUInt8(at);
    // Other types hold more before their SID; they never occur on plain files, and count as foreign.
    const plain = type === ACCESS_ALLOWED || type === ACCESS_DENIED;
    const mask = bytes.readUInt32LE(at + 4);
    entries.push({ type, flags: bytes.readUInt8(at + 1), mask, sid: plain ? sidText(bytes, at + 8) : '' });
    at += bytes.readUInt16LE(at + 2);
  }
  return entries;
}

/** Whether nobody is let in but the user, the system and administrators: what mode 0700 is elsewhere. */
export function letsOnlyIn(descriptor: SecurityDescriptor, userSids: readonly string[]): boolean {
  const known = new Set([...userSids, SYSTEM, ADMINISTRATORS, OWNER_RIGHTS]);
  return (
    descriptor.entries?.every(
      ({ type, flags, mask, sid }) =>
        type === ACCESS_DENIED ||
        mask === 0 ||
        (type === ACCESS_ALLOWED &&
          (known.has(sid) || (sid === CREATOR_OWNER && (flags & INHERIT_ONLY) !== 0))),
    ) ?? false
  );
}

/** Whether the owner is one as whom this user's programs create files. */
export function isOwnedBy(descriptor: SecurityDescriptor, userSids: readonly string[]): boolean {
  return descriptor.owner !== undefined && userSids.includes(descriptor.owner);
}

/**
 * SDDL of a private directory: protected, everything below it inherits. The first SID becomes the owner.
 * Throws a TypeError for a text that is no SID: it would become part of the rules.
 */
export function privateDirectorySddl(userSids: readonly string[]): string {
  const [owner] = userSids;
  if (owner === undefined || !userSids.every((sid) => /^S-1(-\d+)+$/.test(sid))) {
    throw new TypeError(`not SIDs: ${userSids.join(' ')}`);
  }
  const trusted = [...new Set([...userSids, SYSTEM, ADMINISTRATORS])];
  return `O:${owner}D:P${trusted.map((sid) => `(A;OICI;FA;;;${sid})`).join('')}`;
}
