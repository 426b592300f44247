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
