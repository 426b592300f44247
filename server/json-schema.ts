import * as z from 'zod/mini';

/** The part of JSON Schema that our operations come out as. */
export interface JsonSchema {
  readonly type?: string;
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
  return oneTypeEach(shown) as JsonSchema;
}

/** A list of types is less portable than branches with one type each. */
function oneTypeEach(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(oneTypeEach);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'enum' ? value : oneTypeEach(value)]),
  );
  if (Array.isArray(type)) return { anyOf: type.map((name) => ({ type: name })), ...rest };
  return type === undefined ? rest : { type, ...rest };
}

/** Whether a value of JSON type `type` can fit. */
export function accepts(schema: JsonSchema, type: string): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch) => accepts(branch, type));
  return schema.type === type;
}
