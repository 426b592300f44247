import type * as z from 'zod/mini';
import type { JsonSchema } from './json-schema.ts';

type Issue = z.core.$ZodIssue;

const SHOWN_MAX = 60;

/** What is wrong with arguments, and what to pass instead; one sentence for each problem. */
export function explainIssues(issues: readonly Issue[], schema: JsonSchema, input: unknown): string {
  return issues.map((issue) => explain(issue, schema, input)).join('; ');
}

function explain(issue: Issue, schema: JsonSchema, input: unknown): string {
  const taken = Object.keys(schema.properties ?? {}).join(', ');
  if (issue.code === 'unrecognized_keys') {
    return `unknown argument ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}: this tool takes ${taken}`;
  }
  if (issue.path.length === 0) return `the arguments must be an object with ${taken}`;
  const given = valueAt(input, issue.path);
  const where = issue.path.map(String).join('.');
  if (given === undefined) return `${where} is missing: ${expectation(issue)}`;
  return `${where} ${expectation(issue)}, not ${shown(given)}`;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'array' ? 'a list of strings' : article(issue.expected)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'must not be empty'
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_union':
      return 'must be a string, or null to unset it';
    default:
      return 'cannot be used';
  }
}

function article(type: string): string {
  if (type === 'int') return 'a whole number';
  if (type === 'record' || type === 'object') return 'an object';
  return `a ${type}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
