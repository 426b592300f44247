import { messageOf } from '../errors.ts';

/** Where a JSON document breaks, as one line for a person: undefined for a valid one. `data` must be UTF-8. */
export function jsonProblem(data: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return 'not UTF-8';
  }
  const message = complaint(text);
  if (message === undefined) return undefined;
  const brief = message.replaceAll(/\s+/g, ' ').slice(0, 200);
  return /position \d+/.test(brief) ? brief : `${brief} (position ${breakOf(text)})`;
}

function complaint(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * The position of the first character that no valid document has there. V8 of Node 20 names none for a stray word, but
 * it tells a beginning that may still go on from one that may not: the longest such beginning ends where it breaks.
 */
function breakOf(text: string): number {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (mayGoOn(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function mayGoOn(text: string): boolean {
  const message = complaint(text);
  if (message === undefined || message.includes('end of JSON')) return true;
  return /position (\d+)/.exec(message)?.[1] === String(text.length);
}
