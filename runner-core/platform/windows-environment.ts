/** Environments as Windows has them: names without regard to case. */

type Environment = Readonly<Record<string, string | undefined>>;

/** Two names with the same key are the same variable. */
export function variableKey(name: string): string {
  return name.toUpperCase();
}

/** The value of a variable; of several spellings the last one counts, as the override. */
export function variableOf(env: Environment, name: string): string | undefined {
  const key = variableKey(name);
  return Object.entries(env).findLast(([other]) => variableKey(other) === key)?.[1];
}

/**
 * The environment with one spelling of each name, the last value of each, in the order that CreateProcessW asks for.
 * Hidden variables (`=C:`) are left out: they belong to the caller's shell.
 */
export function uniqueVariables(env: Environment): [string, string][] {
  const unique = new Map<string, [string, string]>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || name === '' || name.startsWith('=')) continue;
    const key = variableKey(name);
    unique.set(key, [unique.get(key)?.[0] ?? name, value]);
  }
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, variable]) => variable);
}

/** The block that CreateProcessW takes with CREATE_UNICODE_ENVIRONMENT. */
export function environmentBlock(env: Environment): Buffer {
  const text = uniqueVariables(env)
    .map(([name, value]) => `${name}=${value}\0`)
    .join('');
  return Buffer.from(`${text || '\0'}\0`, 'utf16le');
}
