/** A longer line is not repeated to whoever has just sent it. */
const REPEATED_MAX = 300;

/**
 * A command line in one string cannot be split without guessing, and hardly any program is called that. Gives what to
 * pass instead, or undefined where the argv can be what it says.
 */
export function refuseShellLine(args: unknown): string | undefined {
  const argv: unknown = typeof args === 'object' && args !== null ? Reflect.get(args, 'argv') : undefined;
  const [line, ...others] = typeof argv === 'string' ? listFrom(argv) : Array.isArray(argv) ? argv : [];
  if (typeof line !== 'string' || others.length > 0) return undefined;
  const isList = typeof argv !== 'string' || argv.trimStart().startsWith('[');
  const isPath = /^([./~]|[A-Za-z]:)/.test(line);
  if (isList && (isPath || !/[\s;&|<>$`]/.test(line.trim()))) return undefined;
  return `argv must be a list with one string for each argument, not a command line. For a shell line pass ["sh", "-c", ${line.length > REPEATED_MAX ? 'and the line' : JSON.stringify(line)}]`;
}

function listFrom(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [text];
  } catch {
    // Not JSON: one line.
    return [text];
  }
}
