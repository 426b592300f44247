/**
 * What data from outside must look like, for the few records that every command and every supervisor reads at once: a
 * validation library takes longer to set up than all that they do besides.
 */
const MISFIT = Symbol('misfit');

/** Gives the value as it is to be used, or `MISFIT`. */
export type Shape<T> = (value: unknown) => T | typeof MISFIT;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** The value if it has the shape, else undefined. */
export function shaped<T>(shape: Shape<T>, value: unknown): T | undefined {
  const got = shape(value);
  return got === MISFIT ? undefined : got;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

export const text: Shape<string> = (value) => (typeof value === 'string' ? value : MISFIT);
export const number: Shape<number> = (value) => (isNumber(value) ? value : MISFIT);
export const processId: Shape<number> = (value) =>
  isNumber(value) && Number.isSafeInteger(value) && value > 0 ? value : MISFIT;

export const oneOf =
  <const T extends string | boolean>(...words: readonly T[]): Shape<T> =>
  (value) =>
    words.find((word) => word === value) ?? MISFIT;

export const atMost =
  (most: number): Shape<number> =>
  (value) =>
    isNumber(value) ? Math.min(value, most) : MISFIT;

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? null : shape(value);

/** Absent, null or of the shape. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | null | undefined> =>
  (value) =>
    value === undefined || value === null ? value : shape(value);

export const listOf =
  <T>(shape: Shape<T>): Shape<T[]> =>
  (value) => {
    if (!Array.isArray(value)) return MISFIT;
    const items: T[] = [];
    for (const item of value) {
      const got = shape(item);
      if (got === MISFIT) return MISFIT;
      items.push(got);
    }
    return items;
  };

/** From and to. */
export const span: Shape<[number, number]> = (value) =>
  Array.isArray(value) && value.length === 2 && isNumber(value[0]) && isNumber(value[1])
    ? [value[0], value[1]]
    : MISFIT;

/** A name and its value. */
export const pair: Shape<[string, string]> = (value) =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'string'
    ? [value[0], value[1]]
    : MISFIT;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Absent<F extends Fields> = { [K in keyof F]: undefined extends Shaped<F[K]> ? K : never }[keyof F];
type ObjectOf<F extends Fields> = { [K in Exclude<keyof F, Absent<F>>]: Shaped<F[K]> } & {
  [K in Absent<F>]?: Shaped<F[K]>;
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object with these fields, and whatever else it has: a later version may write more. */
export const record =
  <F extends Fields>(fields: F): Shape<ObjectOf<F> & { [name: string]: unknown }> =>
  (value) => {
    if (!isObject(value)) return MISFIT;
    const got: Record<string, unknown> = { ...value };
    for (const [name, shape] of Object.entries(fields)) {
      const item = shape(value[name]);
      if (item === MISFIT) return MISFIT;
      if (item !== value[name]) got[name] = item;
    }
    return got as ObjectOf<F> & { [name: string]: unknown };
  };
