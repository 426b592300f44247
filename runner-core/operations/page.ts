/** A page in characters as JSON writes them: clients spill or cut what is longer than 50,000. */
export const PAGE_MAX_CHARS = 45_000;

/** What a page takes besides its text: offsets, a path, the next step. */
const FRAME_CHARS = 700;

/** How long a page may be whose caller has not said how long, for a caller that shows so much of an answer. */
export function usualPageChars(answerChars: number | undefined): number {
  return Math.min(PAGE_MAX_CHARS, (answerChars ?? Number.POSITIVE_INFINITY) - FRAME_CHARS);
}

export interface Page {
  readonly text?: string;
  readonly base64?: string;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

/** One page of `data`, from byte `offset`, cut between characters. */
export function pageOf(data: Buffer, offset: number, maxBytes: number, maxChars?: number): Page {
  return pageFrom(data.subarray(offset, offset + maxBytes), offset, data.length, maxChars);
}

/**
 * A page out of the bytes read at `offset` of a file of `totalBytes`: as text where they are UTF-8, cut before a
 * character that the page does not hold whole; else as base64, every byte as it is. Shorter than the bytes where it
 * would be longer than `maxChars`.
 */
export function pageFrom(
  slice: Buffer,
  offset: number,
  totalBytes: number,
  maxChars: number = PAGE_MAX_CHARS,
): Page {
  const reachesEnd = offset + slice.length >= totalBytes;
  const whole = reachesEnd ? slice : slice.subarray(0, wholeCharacters(slice));
  const decoded = decode(whole);
  const text = decoded?.slice(0, fitting(decoded, maxChars));
  const data =
    text === undefined
      ? slice.subarray(0, bytesInBase64(maxChars))
      : whole.subarray(0, Buffer.byteLength(text));
  const next = offset + data.length;
  return {
    ...(text === undefined ? { base64: data.toString('base64') } : { text }),
    offset,
    next_offset: next < totalBytes ? next : null,
    total_bytes: totalBytes,
  };
}

/** How many bytes base64 writes in `chars` characters. */
export function bytesInBase64(chars: number): number {
  return Math.max(1, Math.floor(chars / 4) * 3);
}

/** The text of bytes for somebody who reads: what is not UTF-8 becomes U+FFFD, and a NUL its picture, both visible. */
export function readable(data: Buffer): { text: string; replaced: boolean } {
  const exact = decode(data);
  if (exact !== undefined) return { text: exact, replaced: false };
  return {
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(data).replaceAll('\0', '\u2400'),
    replaced: true,
  };
}

function decode(data: Buffer): string | undefined {
  if (data.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    // Not UTF-8: the bytes themselves are what there is to give.
    return undefined;
  }
}

/** How much of `text` (UTF-16 units, whole characters, at least one) JSON writes in `maxChars` characters. */
export function fitting(text: string, maxChars: number): number {
  // JSON never needs more than six characters for one.
  if (text.length * 6 <= maxChars) return text.length;
  let chars = 0;
  let at = 0;
  for (const character of text) {
    chars += JSON.stringify(character).length - 2;
    if (chars > maxChars && at > 0) return at;
    at += character.length;
  }
  return at;
}

/** The length of `data` without a UTF-8 character that is cut off at its end (at most three bytes of it). */
function wholeCharacters(data: Buffer): number {
  for (let back = 1; back <= Math.min(3, data.length - 1); back += 1) {
    const byte = data[data.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? data.length - back : data.length;
  }
  return data.length;
}
