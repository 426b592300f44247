import { decimalOf } from '../runner-core/index.ts';
import { accepts, type JsonSchema } from './json-schema.ts';

/**
 * Arguments as models send them, in the form that the schema asks for, where there is only one way to take them:
 * `"20"` for a number, one value or a JSON text for a list, null for what is absent. Everything else stays as it is,
 * for the schema to refuse.
 */
export function lenient(schema: JsonSchema, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (accepts(schema, 'object')) return lenientObject(schema, fromJsonText(value, isPlainObject));
  if (accepts(schema, 'array')) return lenientList(schema, fromJsonText(value, Array.isArray));
  if ((accepts(schema, 'number') || accepts(schema, 'integer')) && typeof value === 'string')
    return decimalOf(value) ?? value;
  if (accepts(schema, 'boolean') && (value === 'true' || value === 'false')) return value === 'true';
  if (accepts(schema, 'string')) return textFrom(value);
  return value;
}

function lenientObject(schema: JsonSchema, value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const property = schema.properties?.[key] ?? rest;
    if (!property) return [[key, item] as const];
    return item === null && !accepts(property, 'null') ? [] : [[key, lenient(property, item)] as const];
  });
  return Object.fromEntries(entries);
}

function lenientList(schema: JsonSchema, value: unknown): unknown {
  const items = schema.items ?? {};
  if (Array.isArray(value)) return value.map((item) => lenient(items, item));
  return accepts(items, 'string') && typeof value === 'string' && value !== '' ? [value] : value;
}

/** A number for a text; a list of one text for that text. */
function textFrom(value: unknown): unknown {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value;
}

function fromJsonText(value: unknown, wanted: (parsed: unknown) => boolean): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return wanted(parsed) ? parsed : value;
  } catch {
    // Not JSON after all.
    return value;
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
