import type * as z from 'zod/mini';
import { decimalOf, expectationOf, givenText, type Operation, RunnerError } from '../index.ts';
import { type Command, type Flag, flagText, SHELLS, SHOWN } from './command.ts';
import { type FlagValue, parseFlags } from './flags.ts';
import { nearest } from './nearest.ts';

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
  const after = split === -1 ? undefined : args.slice(split + 1);
  if (command.words?.field === 'argv') refuseWords(command, positionals, after);
  requireFlags(command, values, after);
  assignWords(command, positionals, after, input);
  return { input, json: values.json === true, ...(command.hasOwnFlags ? { shown } : {}) };
}

/** Before `--` stand flags alone; without one the worker itself was probably meant. */
function refuseWords(command: Command, words: readonly string[], after: readonly string[] | undefined): void {
  const [first] = words;
  if (first === undefined) return;
  const unexpected = `unexpected ${JSON.stringify(first)}`;
  if (after) throw new RunnerError('usage', `${unexpected} before "--", where only flags stand`);
  const worker = /^[\w./-]+$/.test(first) ? `${first} …` : '…';
  throw new RunnerError(
    'usage',
    `${unexpected}; put the worker after "--": peer-jobs ${command.operation.name} … -- ${worker}`,
  );
}

/** Everything that is missing at once, so that nobody has to ask twice. */
function requireFlags(
  command: Command,
  values: Readonly<Record<string, FlagValue | undefined>>,
  after: readonly string[] | undefined,
): void {
  if (command.required.every((name) => values[name] !== undefined)) return;
  const flags = command.flags.filter(({ name, required }) => required && values[name] === undefined);
  const missing = [...flags.map(flagText), ...(after?.length ? [] : ['the worker after "--"'])];
  const last = missing.pop();
  const list = missing.length > 0 ? `${missing.join(', ')} and ${last}` : last;
  throw new RunnerError(
    'usage',
    `${command.operation.name} needs ${list}; for example: peer-jobs start --skill demo --run-id first -- make test`,
  );
}

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

const NAME_A_JOB = 'name a job: its id, or the path of its directory';

/** `after` is what stands behind `--`, if there is one. */
function assignWords(
  command: Command,
  words: readonly string[],
  after: readonly string[] | undefined,
  input: Record<string, unknown>,
): void {
  const [first, second] = words;
  switch (command.words?.field) {
    case 'argv':
      input.argv = after ?? [];
      return;
    case 'jobs':
      if (words.length === 0 && command.words.required)
        throw new RunnerError('usage', 'name at least one job: its id, or the path of its directory');
      if (words.length > 0) input.jobs = words;
      return;
    case 'job':
      if (first === undefined && command.words.required) throw new RunnerError('usage', NAME_A_JOB);
      if (second !== undefined)
        throw new RunnerError('usage', `one job at a time; unexpected ${JSON.stringify(second)}`);
      if (first !== undefined) input.job = first;
      return;
    case 'shell':
      if (words.length !== 1) throw new RunnerError('usage', `name one shell: ${SHELLS.join(', ')}`);
      input.shell = first;
      return;
    default:
      if (first !== undefined) throw new RunnerError('usage', `unexpected ${JSON.stringify(first)}`);
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
  const path = issue?.path ?? [];
  // A flag is named for the part that it sets, not for what that is in; a variable has no flag of its own.
  const part = path[0] === 'env' ? 'env' : path.findLast((one) => typeof one === 'string');
  const field = String(part ?? '');
  if (field === 'argv') throw new RunnerError('invalid', 'no worker argv; place it after "--"');
  if (field === 'job' || field === 'jobs') throw new RunnerError('usage', NAME_A_JOB);
  if (!issue) throw parsed.error;
  const name = field === 'shell' ? 'the shell' : `--${field.replaceAll('_', '-')}`;
  if (issue.code === 'custom') throw new RunnerError('usage', `${name}: ${issue.message}`);
  const value = path.reduce<unknown>((within, key) => Object(within)[key], input);
  const near = issue.code === 'invalid_value' ? nearest(String(value), issue.values.map(String)) : undefined;
  const advice = near === undefined ? '' : `; did you mean ${near}?`;
  throw new RunnerError('usage', `${name} ${expectationOf(issue)}, not ${givenText(value)}${advice}`);
}
