export interface Page {
  readonly text?: string;
  readonly base64?: string;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

/** One page of `data`, from byte `offset`, cut between characters. */
export function pageOf(data: Buffer, offset: number, maxBytes: number): Page {
  const slice = data.subarray(offset, offset + maxBytes);
  return pageFrom(slice, offset, data.length);
}

/**
 * A page out of the bytes read at `offset` of a file of `totalBytes`: as text where they are UTF-8, cut before a
 * character that the page does not hold whole; else as base64, every byte as it is.
 */
export function pageFrom(slice: Buffer, offset: number, totalBytes: number): Page {
  const reachesEnd = offset + slice.length >= totalBytes;
  const whole = reachesEnd ? slice : slice.subarray(0, wholeCharacters(slice));
  const text = decode(whole);
  const data = text === undefined ? slice : whole;
  const next = offset + data.length;
  return {
    ...(text === undefined ? { base64: data.toString('base64') } : { text }),
    offset,
    next_offset: next < totalBytes ? next : null,
    total_bytes: totalBytes,
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
