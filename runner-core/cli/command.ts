import * as z from 'zod/mini';
import type { Operation } from '../index.ts';

/** A property of an operation's input, as its JSON Schema tells it. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
}

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** The placeholder of its value; undefined for a switch. */
  readonly value: string | undefined;
  readonly description: string;
  /** Where its value goes in the operation's input. */
  readonly field: string;
  /** The part of the input that the field is in, where that is an object of its own. */
  readonly within?: string;
  readonly repeatable: boolean;
  /** Whether its value is a number for the operation. */
  readonly numeric: boolean;
  /** Whether the command cannot do without it. */
  readonly required: boolean;
}

/** What a command line needs of an operation; a command that only people have may be nothing more. */
export type Declared = Pick<Operation, 'name' | 'description' | 'input'> & Partial<Pick<Operation, 'output'>>;

export interface Command {
  readonly operation: Declared;
  readonly description: string;
  /** Names of flags. */
  readonly required: readonly string[];
  readonly flags: readonly Flag[];
  /** Whether any of them is none of the operation's. */
  readonly hasOwnFlags: boolean;
  /** `jobs` or `job` or `argv`: what the words that are not flags become. */
  readonly words: { readonly field: string; readonly usage: string; readonly required: boolean } | undefined;
}

/** By field, else by type. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  skill: 'NAME',
  run_id: 'NAME',
  label: 'NAME',
  number: 'N',
  integer: 'N',
  string: 'TEXT',
};

function properties(operation: Declared): [string, Property][] {
  const schema = z.toJSONSchema(operation.input, { io: 'input' });
  return Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    typeof property === 'object' ? (property as Property) : {},
  ]);
}

/** Lists jobs for the completions; not for people. */
export const JOBS_COMMAND = '__jobs';

/** What `completion` knows. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const WORDS: Readonly<Record<string, string>> = {
  jobs: 'JOB…',
  job: 'JOB',
  argv: '-- ARGV…',
  shell: SHELLS.join('|'),
};

/** The field of a flag that is none of the operation's. */
export const SHOWN = '';

export function flagText(flag: Flag): string {
  return flag.value === undefined ? `--${flag.name}` : `--${flag.name} ${flag.value}`;
}

/** What a flag does, and how often it is given. */
export function flagMeaning({ description, required, repeatable }: Flag): string {
  return `${required ? 'Required. ' : ''}${description}${repeatable ? ' May be repeated.' : ''}`;
}

/** How a command is called, its name first. */
export function callOf(command: Command, flags = ''): string {
  const needed = command.required.length > 0 ? command.flags.filter(({ required }) => required) : [];
  const words = [...needed.map(flagText), flags, command.words?.usage ?? ''];
  return [command.operation.name, ...words.filter(Boolean)].join(' ');
}

/** A flag that only the command line has: how something is shown, not what is asked for. */
export type ShowFlag = Pick<Flag, 'name' | 'value' | 'description'>;

/** In what the command differs from the operation that it performs. */
export interface Presentation {
  readonly flags?: readonly ShowFlag[];
  /** Flags that only the command needs: a server has its own skill and run. */
  readonly required?: readonly string[];
  /** Where a command prints less than a tool answers. */
  readonly description?: string;
}

/**
 * The command line of an operation, derived from its input, and with the flags that only this command has. The flags are
 * derived when they are asked for: most calls give none, and their schema takes longer to write down than a `status` to do.
 */
export function commandOf(operation: Declared, presentation: Presentation = {}): Command {
  const { flags: own = [], required = [], description = operation.description } = presentation;
  const names = Object.keys(operation.input.shape);
  const words = names.find((name) => name in WORDS);
  let flags: readonly Flag[] | undefined;
  return {
    operation,
    description,
    required,
    words: words === undefined ? undefined : wordsOf(words, operation),
    hasOwnFlags: own.length > 0,
    get flags() {
      flags ??= allFlags(operation, words, own).map((flag) =>
        required.includes(flag.name) ? { ...flag, required: true } : flag,
      );
      return flags;
    },
  };
}

const PLAIN = { repeatable: false, numeric: false, required: false } as const;

function allFlags(operation: Declared, words: string | undefined, own: readonly ShowFlag[]): Flag[] {
  return [
    ...properties(operation)
      .filter(([name]) => name !== words)
      .flatMap(([name, property]) => flagsOf(name, property)),
    ...own.map((flag) => ({ ...flag, field: SHOWN, ...PLAIN })),
    ...(operation.output
      ? [{ name: 'json', value: undefined, description: 'Print JSON.', field: 'json', ...PLAIN }]
      : []),
  ];
}

function wordsOf(field: string, operation: Declared): Command['words'] {
  const usage = WORDS[field] ?? '';
  const required = operation.input.shape[field]?._zod.optin !== 'optional';
  return { field, usage: required || field === 'job' ? usage : `[${usage}]`, required };
}

function flagsOf(field: string, property: Property): Flag[] {
  const flag = (
    name: string,
    value: string | undefined,
    description: string,
    more: Partial<Flag> = {},
  ): Flag => ({ name, value, description, field, ...PLAIN, ...more });
  const description = property.description ?? '';
  switch (field) {
    case 'env':
      return [
        flag('env', 'NAME=VALUE', 'Set a variable in the environment that the worker inherits.', {
          repeatable: true,
        }),
        flag('unset-env', 'NAME', 'Take a variable out of it.', { repeatable: true }),
      ];
    case 'sweep':
      return [flag('no-sweep', undefined, 'Keep sibling runs older than a day.')];
    case 'until':
      return [flag('any', undefined, 'Return as soon as any one job has settled.')];
    case 'older_than':
      return [flag('older-than', 'AGE', description)];
    default: {
      const parts = Object.entries(property.properties ?? {});
      if (parts.length > 0) {
        return parts.flatMap(([name, part]) => flagsOf(name, part).map((one) => ({ ...one, within: field })));
      }
      const value = property.enum?.join('|') ?? PLACEHOLDERS[field] ?? PLACEHOLDERS[property.type ?? ''];
      const numeric = property.type === 'number' || property.type === 'integer';
      return [flag(field.replaceAll('_', '-'), value, description, { numeric })];
    }
  }
}
