/** Where a JSON document breaks, as one line for a person: undefined for a valid one. `data` must be UTF-8. */
export function jsonProblem(data: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    return 'not UTF-8';
  }
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    // V8 names the position where it has one; a document that just ends has its end as the position.
    const message = error instanceof Error ? error.message : String(error);
    const brief = message.replaceAll(/\s+/g, ' ').slice(0, 200);
    return /position \d+/.test(brief) ? brief : `${brief} (position ${text.length})`;
  }
}
