// For `node --test-reporter`: one line of JSON a test, `{ name, outcome, ms, detail }`.
export default async function* report(source) {
  for await (const { type, data } of source) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 1) continue;
    const outcome = data.skip !== undefined ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    const error = data.details?.error;
    const detail =
      outcome === 'failed'
        ? String(error?.cause?.stack ?? error?.stack ?? error)
        : typeof data.skip === 'string'
          ? data.skip
          : '';
    yield `${JSON.stringify({ name: data.name, outcome, ms: Math.round(data.details?.duration_ms ?? 0), detail })}\n`;
  }
}
