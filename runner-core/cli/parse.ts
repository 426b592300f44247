import { type ParseArgsConfig, parseArgs } from 'node:util';
import type * as z from 'zod/mini';
import { decimalOf, expectationOf, givenText, messageOf, type Operation, RunnerError } from '../index.ts';
import { type Command, type Flag, SHELLS, SHOWN, WORDS } from './command.ts';

export interface Invocation {
  readonly input: Readonly<Record<string, unknown>>;
  readonly json: boolean;
  /** The flags of the command's own that were given; absent for a command that has none. */
  readonly shown?: Readonly<Record<string, string | boolean>>;
}

/** The operation's input out of the words after the command. Throws `usage`, or `invalid` for a missing worker. */
export function parseCommand(command: Command, args: readonly string[]): Invocation {
  const split = args.indexOf('--');
  const before = split === -1 ? args : args.slice(0, split);
  const { values, positionals } = parseFlags(command, before);
  const input: Record<string, unknown> = {};
  const shown: Record<string, string | boolean> = {};
  for (const flag of Object.keys(values).length === 0 ? [] : command.flags) {
    const value = values[flag.name];
    if (value === undefined || flag.field === 'json') continue;
    if (flag.field === SHOWN) shown[flag.name] = value === true || String(value);
    else Object.assign(input, fieldOf(flag, value, input));
  }
  assignWords(command, positionals, split === -1 ? [] : args.slice(split + 1), input);
  return { input, json: values.json === true, ...(command.hasOwnFlags ? { shown } : {}) };
}

interface Parsed {
  readonly values: Readonly<Record<string, FlagValue | undefined>>;
  readonly positionals: readonly string[];
}

function parseFlags(command: Command, args: readonly string[]): Parsed {
  if (!args.some((arg) => arg.startsWith('-'))) return { values: {}, positionals: args };
  const options: ParseArgsConfig['options'] = {};
  for (const flag of command.flags) {
    options[flag.name] = { type: flag.value === undefined ? 'boolean' : 'string', multiple: flag.repeatable };
  }
  try {
    return parseArgs({
      args: joinNegatives(
        command,
        args.map((arg) => expand(command, arg)),
      ),
      options,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new RunnerError('usage', messageOf(error), { cause: error });
  }
}

/** A flag may be shortened as long as it stays the only one that begins so. */
function expand(command: Command, arg: string): string {
  const [, name = '', rest = ''] = /^--([^=]+)(=.*)?$/s.exec(arg) ?? [];
  if (name === '' || command.flags.some((flag) => flag.name === name)) return arg;
  const [only, ...others] = command.flags.filter((flag) => flag.name.startsWith(name));
  return only && others.length === 0 ? `--${only.name}${rest}` : arg;
}

/** `--max-secs -1` is a flag and its value, as `--max-secs=-1` is; no flag looks like a number. */
function joinNegatives(command: Command, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    const takesValue = command.flags.some((flag) => flag.value !== undefined && `--${flag.name}` === before);
    if (takesValue && /^-\.?\d/.test(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

type FlagValue = string | boolean | (string | boolean)[];

function fieldOf(
  flag: Flag,
  value: FlagValue,
  soFar: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  switch (flag.name) {
    case 'no-sweep':
      return { sweep: false };
    case 'any':
      return { until: 'any' };
    case 'max-secs':
      // A caller that counts down to its own deadline may come out below zero: then it waits no longer.
      return { max_secs: Math.max(0, signedNumberOf(flag, String(value))) };
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
    default: {
      const field = { [flag.field]: flag.numeric ? numberOf(flag, String(value)) : value };
      return flag.within === undefined
        ? field
        : { [flag.within]: { ...Object(soFar[flag.within]), ...field } };
    }
  }
}

function numberOf(flag: Flag, text: string): number {
  const value = signedNumberOf(flag, text);
  return value >= 0 ? value : refuseNumber(flag, text);
}

function signedNumberOf(flag: Flag, text: string): number {
  const value = decimalOf(text);
  return value !== undefined && Number.isFinite(value) ? value : refuseNumber(flag, text);
}

function refuseNumber(flag: Flag, text: string): never {
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
      if (words.length === 0 && command.words.required)
        throw new RunnerError('usage', 'name at least one job: its id, or the path of its directory');
      if (words.length > 0) input.jobs = words;
      return;
    case 'job':
      if (words.length > 1)
        throw new RunnerError('usage', `one job at a time; unexpected ${JSON.stringify(words[1])}`);
      if (words[0] !== undefined) input.job = words[0];
      return;
    case 'shell':
      if (words.length !== 1) throw new RunnerError('usage', `name one shell: ${SHELLS.join(', ')}`);
      input.shell = words[0];
      return;
    default:
      if (words.length > 0) throw new RunnerError('usage', `unexpected ${JSON.stringify(words[0])}`);
  }
}

/** The input as the operation takes it. Throws `usage` with the flag that is wrong. */
export function checkInput<I extends z.ZodMiniObject>(
  operation: Pick<Operation<I>, 'input'>,
  input: Readonly<Record<string, unknown>>,
): z.output<I> {
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // A flag is named for the part that it sets, not for what that is in.
  const field = String(issue?.path.findLast((part) => typeof part === 'string') ?? '');
  if (field === 'argv') {
    if (input.skill === undefined || input.run_id === undefined) {
      throw new RunnerError('usage', 'start needs --skill and --run-id, and the worker after "--"');
    }
    throw new RunnerError('invalid', 'no worker argv; place it after "--"');
  }
  if (!issue) throw parsed.error;
  const name = field in WORDS ? field : `--${field.replaceAll('_', '-')}`;
  throw new RunnerError('usage', `${name} ${expectationOf(issue)}, not ${givenText(input[field])}`);
}
