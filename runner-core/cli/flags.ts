/** The flags and words of a command line, or one line that says which of them is wrong and what is right. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { RunnerError } from '../index.ts';
import { type Command, flagText } from './command.ts';
import { nearest } from './nearest.ts';

export type FlagValue = string | boolean | (string | boolean)[];

export interface Parsed {
  readonly values: Readonly<Record<string, FlagValue | undefined>>;
  readonly positionals: readonly string[];
}

/** `args` are those before `--`, if there is one. Throws `usage`. */
export function parseFlags(command: Command, args: readonly string[]): Parsed {
  if (!args.some((arg) => arg.startsWith('-'))) return { values: {}, positionals: args };
  const options: ParseArgsConfig['options'] = {};
  for (const flag of command.flags) {
    options[flag.name] = { type: flag.value === undefined ? 'boolean' : 'string', multiple: flag.repeatable };
  }
  const parsed = parseArgs({
    args: joinNegatives(
      command,
      args.map((arg) => expand(command, arg)),
    ),
    options,
    allowPositionals: true,
    // What is wrong is said by us: the parser's own words tell nothing of what is right.
    strict: false,
    tokens: true,
  });
  const startsWorker = command.words?.field === 'argv';
  for (const token of parsed.tokens) {
    // A worker without its "--" would have its own flags taken for ours.
    if (token.kind === 'positional' && startsWorker) break;
    if (token.kind === 'option') checkFlag(command, token);
  }
  return parsed;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function checkFlag(command: Command, { name, rawName, value, inlineValue }: OptionToken): void {
  const flag = command.flags.find((one) => rawName === `--${one.name}`);
  if (!flag) throw new RunnerError('usage', unknownFlag(command, name, rawName));
  if (flag.value === undefined) {
    if (value !== undefined) throw new RunnerError('usage', `--${name} takes no value`);
    return;
  }
  // Another flag in its place: its value was forgotten.
  if (value === undefined || (inlineValue !== true && value.length > 1 && value.startsWith('-')))
    throw new RunnerError('usage', `${flagText(flag)}: its value is missing`);
}

function unknownFlag(command: Command, name: string, rawName: string): string {
  const begun = command.flags.filter((flag) => flag.name.startsWith(name)).map((flag) => `--${flag.name}`);
  if (rawName.startsWith('--') && begun.length > 1) return `${rawName} may be ${begun.join(' or ')}`;
  const near = nearest(
    name,
    command.flags.map((flag) => flag.name),
  );
  const advice =
    near === undefined ? `peer-jobs ${command.operation.name} --help lists them` : `did you mean --${near}?`;
  return `unknown flag ${JSON.stringify(rawName).slice(1, -1)}; ${advice}`;
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
