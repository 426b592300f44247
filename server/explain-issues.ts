import type * as z from 'zod/mini';
import { expectationOf, givenText } from '../runner-core/index.ts';
import type { JsonSchema } from './json-schema.ts';

type Issue = z.core.$ZodIssue;

/** What is wrong with arguments, and what to pass instead; one sentence for each problem. */
export function explainIssues(issues: readonly Issue[], schema: JsonSchema, input: unknown): string {
  return issues.map((issue) => explain(issue, schema, input)).join('; ');
}

function explain(issue: Issue, schema: JsonSchema, input: unknown): string {
  const taken = Object.keys(schema.properties ?? {}).join(', ');
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys.map((key) => JSON.stringify(key)).join(', ');
    const [part] = issue.path.map(String);
    if (part === undefined) return `unknown argument ${unknown}: this tool takes ${taken}`;
    return `unknown ${unknown} in ${part}: it takes ${Object.keys(schema.properties?.[part]?.properties ?? {}).join(', ')}`;
  }
  if (issue.path.length === 0) return `the arguments must be an object with ${taken}`;
  const given = valueAt(input, issue.path);
  const where = issue.path.map(String).join('.');
  if (given === undefined) return `${where} is missing: ${expectationOf(issue)}`;
  return `${where} ${expectationOf(issue)}, not ${givenText(given)}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
