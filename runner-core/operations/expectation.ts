/** What is wrong with an input, in words: the schemas' library says no more than "Invalid input". */
import type * as z from 'zod/mini';

const SHOWN_MAX = 60;

/** What should have been given, of one issue: `must be at most 1000`. */
export function expectationOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'array' ? 'a list of strings' : withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'must not be empty'
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_format':
      // Our own words: the library's are only for formats that it knows.
      return issue.message.startsWith('must') ? issue.message : 'cannot be used';
    case 'invalid_union':
      return 'must be a string, or null to unset it';
    default:
      return 'cannot be used';
  }
}

function withArticle(type: string): string {
  if (type === 'int') return 'a whole number';
  if (type === 'record' || type === 'object') return 'an object';
  return `a ${type}`;
}

/** What was given, short enough for a message. */
export function givenText(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
