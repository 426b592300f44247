import { type ParseArgsConfig, parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { type Operation, RunnerError } from '../index.ts';

/** A property of an operation's input, as its JSON Schema tells it. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** The placeholder of its value; undefined for a switch. */
  readonly value: string | undefined;
  readonly description: string;
  /** Where its value goes in the operation's input. */
  readonly field: string;
  readonly repeatable: boolean;
}

export interface Command {
  readonly operation: Operation;
  readonly flags: readonly Flag[];
  /** `jobs` or `job` or `argv`: what the words that are not flags become. */
  readonly words: { readonly field: string; readonly usage: string } | undefined;
}

const PLACEHOLDERS: Readonly<Record<string, string>> = { number: 'N', integer: 'N', string: 'TEXT' };

function properties(operation: Operation): [string, Property][] {
  const schema = z.toJSONSchema(operation.input, { io: 'input' });
  return Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    typeof property === 'object' ? (property as Property) : {},
  ]);
}

const WORDS: Readonly<Record<string, string>> = { jobs: 'JOB…', job: 'JOB', argv: '-- ARGV…' };

/** The command line of an operation, derived from its input. */
export function commandOf(operation: Operation): Command {
  const fields = properties(operation);
  const words = fields.find(([name]) => name in WORDS);
  return {
    operation,
    words: words && { field: words[0], usage: WORDS[words[0]] ?? '' },
    flags: [
      ...fields
        .filter(([name]) => name !== words?.[0])
        .flatMap(([name, property]) => flagsOf(name, property)),
      { name: 'json', value: undefined, description: 'Print JSON.', field: 'json', repeatable: false },
    ],
  };
}

function flagsOf(field: string, property: Property): Flag[] {
  const flag = (name: string, value: string | undefined, description: string, repeatable = false): Flag => ({
    name,
    value,
    description,
    field,
    repeatable,
  });
  const description = property.description ?? '';
  switch (field) {
    case 'env':
      return [
        flag('env', 'NAME=VALUE', 'Set a variable in the environment that the worker inherits.', true),
        flag('unset-env', 'NAME', 'Take a variable out of it.', true),
      ];
    case 'sweep':
      return [flag('no-sweep', undefined, 'Keep sibling runs older than a day.')];
    case 'until':
      return [flag('any', undefined, 'Return as soon as any one job has settled.')];
    default: {
      const value = property.enum?.join('|') ?? PLACEHOLDERS[property.type ?? ''];
      return [flag(field.replaceAll('_', '-'), value, description)];
    }
  }
}

export interface Invocation {
  readonly input: Readonly<Record<string, unknown>>;
  readonly json: boolean;
}

/** The operation's input out of the words after the command. Throws `usage`, or `invalid` for a missing worker. */
export function parseCommand(command: Command, args: readonly string[]): Invocation {
  const split = args.indexOf('--');
  const before = split === -1 ? args : args.slice(0, split);
  const { values, positionals } = parseFlags(command, before);
  const input: Record<string, unknown> = {};
  for (const flag of command.flags) {
    const value = values[flag.name];
    if (value === undefined || flag.field === 'json') continue;
    Object.assign(input, fieldOf(command, flag, value, input));
  }
  assignWords(command, positionals, split === -1 ? [] : args.slice(split + 1), input);
  return { input, json: values.json === true };
}

function parseFlags(command: Command, args: readonly string[]) {
  const options: ParseArgsConfig['options'] = {};
  for (const flag of command.flags) {
    options[flag.name] = { type: flag.value === undefined ? 'boolean' : 'string', multiple: flag.repeatable };
  }
  try {
    return parseArgs({
      args: args.map((arg) => expand(command, arg)),
      options,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new RunnerError('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A flag may be shortened as long as it stays the only one that begins so. */
function expand(command: Command, arg: string): string {
  const [, name = '', rest = ''] = /^--([^=]+)(=.*)?$/s.exec(arg) ?? [];
  if (name === '' || command.flags.some((flag) => flag.name === name)) return arg;
  const [only, ...others] = command.flags.filter((flag) => flag.name.startsWith(name));
  return only && others.length === 0 ? `--${only.name}${rest}` : arg;
}

type FlagValue = string | boolean | (string | boolean)[];

function fieldOf(
  command: Command,
  flag: Flag,
  value: FlagValue,
  soFar: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  switch (flag.name) {
    case 'no-sweep':
      return { sweep: false };
    case 'any':
      return { until: 'any' };
    case 'env':
      return {
        env: {
          ...Object(soFar.env),
          ...Object.fromEntries([value].flat().map((pair) => assignment(String(pair)))),
        },
      };
    case 'unset-env':
      return {
        env: {
          ...Object(soFar.env),
          ...Object.fromEntries([value].flat().map((name) => [String(name), null])),
        },
      };
    default:
      return { [flag.field]: isNumeric(command, flag) ? numberOf(flag, String(value)) : value };
  }
}

function isNumeric(command: Command, flag: Flag): boolean {
  return properties(command.operation).some(
    ([name, { type }]) => name === flag.field && (type === 'number' || type === 'integer'),
  );
}

function numberOf(flag: Flag, text: string): number {
  const value = /^\s*[+]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw new RunnerError(
    'usage',
    `--${flag.name} takes a finite, non-negative number, not ${JSON.stringify(text)}`,
  );
}

function assignment(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new RunnerError('usage', `--env takes NAME=VALUE, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function assignWords(
  command: Command,
  words: readonly string[],
  after: readonly string[],
  input: Record<string, unknown>,
): void {
  switch (command.words?.field) {
    case 'argv':
      if (words.length > 0)
        throw new RunnerError('usage', `unexpected ${JSON.stringify(words[0])}; place the worker after "--"`);
      input.argv = after;
      return;
    case 'jobs':
      if (words.length === 0)
        throw new RunnerError('usage', 'name at least one job: its id, or the path of its directory');
      input.jobs = words;
      return;
    case 'job':
      if (words.length > 1)
        throw new RunnerError('usage', `one job at a time; unexpected ${JSON.stringify(words[1])}`);
      if (words[0] !== undefined) input.job = words[0];
      return;
    default:
      if (words.length > 0) throw new RunnerError('usage', `unexpected ${JSON.stringify(words[0])}`);
  }
}

/** The input as the operation takes it. Throws `usage` with the flag that is wrong. */
export function checkInput<I extends z.ZodMiniObject>(
  operation: Operation<I>,
  input: Readonly<Record<string, unknown>>,
): z.output<I> {
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  if (field === 'argv') throw new RunnerError('invalid', 'no worker argv; place it after "--"');
  throw new RunnerError(
    'usage',
    `${field in WORDS ? field : `--${field.replaceAll('_', '-')}`}: ${issue?.message ?? 'invalid'}`,
  );
}
