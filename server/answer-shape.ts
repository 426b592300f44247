/**
 * Answers as models read them: both known harnesses show the structured answer, in full, so that every field costs
 * tokens. What follows from another field or concerns nobody is left out, and so is null.
 */
import { accepts, type JsonSchema } from './json-schema.ts';

/** `log_path` is in `job_dir`; the windows in force are in its `meta.json`. */
const LEFT_OUT: ReadonlySet<string> = new Set(['log_path', 'supervision']);
/** The reference as given says nothing where it is the id. */
const REPEATS_ID = 'ref';

/** The schema of the shown answer. */
export function shownSchema(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, items, required, ...rest } = schema;
  const branches = anyOf?.filter((branch) => branch.type !== 'null').map(shownSchema);
  if (branches?.length === 1) return { ...branches[0], ...rest };
  const kept = Object.entries(properties ?? {}).filter(([key]) => !LEFT_OUT.has(key));
  const hasId = Object.hasOwn(properties ?? {}, 'job_id');
  const isSometimesLeftOut = (key: string, property: JsonSchema): boolean =>
    accepts(property, 'null') || (key === REPEATS_ID && hasId);
  const always = kept.filter(([key, property]) => !isSometimesLeftOut(key, property)).map(([key]) => key);
  return {
    ...rest,
    ...(branches && { anyOf: branches }),
    ...(items && { items: shownSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(kept.map(([key, property]) => [key, shownSchema(property)])),
      required: always.filter((key) => required?.includes(key)),
    }),
  };
}

/**
 * The answer itself: of each object what `schema`, a shown one, names. Nothing else goes out, since clients refuse an
 * answer that says more than its schema.
 */
export function shownValue(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shownValue(schema.items ?? {}, item));
  if (!schema.properties || typeof value !== 'object' || value === null) return value;
  const id: unknown = Reflect.get(value, 'job_id');
  const shown: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties)) {
    const item: unknown = Reflect.get(value, key);
    if (item === null || item === undefined || (key === REPEATS_ID && item === id)) continue;
    shown[key] = shownValue(property, item);
  }
  return shown;
}
