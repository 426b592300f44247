import * as z from 'zod/mini';

/** The part of JSON Schema that our operations come out as. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
}

/** A schema as clients are shown it, without what only costs tokens. */
export function schemaOf(schema: z.ZodMiniObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      delete jsonSchema.propertyNames;
    },
  });
  return shown as JsonSchema;
}

/** Whether a value of JSON type `type` can fit. */
export function accepts(schema: JsonSchema, type: string): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch) => accepts(branch, type));
  return [schema.type].flat().includes(type);
}

/** The same shape where a null is left out instead: shorter answers, and simpler schemas. */
export function withoutNulls(schema: JsonSchema): JsonSchema {
  const { type, anyOf, properties, items, required, ...rest } = schema;
  const branches = anyOf?.filter((branch) => branch.type !== 'null').map(withoutNulls);
  if (branches?.length === 1) return { ...branches[0], ...rest };
  const [only, ...others] = [type].flat().filter((name) => name !== 'null');
  const isOptional = (key: string): boolean => accepts(properties?.[key] ?? {}, 'null');
  return {
    ...(only && { type: others.length === 0 ? only : [only, ...others] }),
    ...rest,
    ...(branches && { anyOf: branches }),
    ...(items && { items: withoutNulls(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [key, withoutNulls(property)]),
      ),
      required: (required ?? []).filter((key) => !isOptional(key)),
    }),
  };
}

/** A value without the properties that are null or undefined. */
export function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null && item !== undefined)
      .map(([key, item]) => [key, dropNulls(item)]),
  );
}
