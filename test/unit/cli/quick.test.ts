import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandOf } from '../../../runner-core/cli/command.ts';
import { checkInput, parseCommand } from '../../../runner-core/cli/parse.ts';
import { plainCall } from '../../../runner-core/cli/quick.ts';
import { start, status, wait } from '../../../runner-core/index.ts';

const operations = { start, status, wait };
type Name = keyof typeof operations;

/** What the whole command line makes of it. */
function wholly(name: Name, args: readonly string[]): { input: unknown; json: boolean } {
  const operation = operations[name];
  // biome-ignore lint/suspicious/noExplicitAny: operations of three shapes
  const { input, json } = parseCommand(commandOf(operation as any), args);
  // biome-ignore lint/suspicious/noExplicitAny: operations of three shapes
  return { input: checkInput(operation as any, input), json };
}

const FLAGS = [
  '--skill',
  '--run-id',
  '--label',
  '--input-digest',
  '--result-path',
  '--no-sweep',
  '--max-secs',
];
const word = fc.oneof(
  fc.constantFrom(
    ...FLAGS,
    '--any',
    '--json',
    '--',
    '-',
    '--skill=s',
    '--idle-secs',
    '--max',
    '--help',
    '-h',
  ),
  fc.constantFrom(
    '',
    '0',
    '12',
    '1.5',
    '-3',
    '1e3',
    'inf',
    'name',
    'a b',
    '/tmp/x',
    '20261130T121741Z-0a1b2c3d',
  ),
);

describe('a call that is taken for a plain one', () => {
  test('means to the whole command line the same', () => {
    let plain = 0;
    const call = fc.record({ name: fc.constantFrom<Name>('start', 'status', 'wait'), args: fc.array(word) });
    fc.assert(
      fc.property(call, ({ name, args }) => {
        const quick = plainCall([name, ...args]);
        if (!quick) return;
        plain += 1;
        expect({ input: quick.input, json: quick.json }).toEqual(wholly(name, args));
      }),
      { numRuns: 5_000 },
    );
    expect(plain).toBeGreaterThan(50);
  });

  const named = ['--skill', 's', '--run-id', 'r'];
  test.each<[Name, string[]]>([
    ['status', ['job']],
    ['status', ['one', '/two', '--json']],
    ['wait', ['job']],
    ['wait', ['--max-secs', '0.5', 'one', 'two', '--any']],
    ['start', [...named, '--', 'true']],
    [
      'start',
      [...named, '--label', 'l', '--result-path', 'out', '--no-sweep', '--', 'sh', '-c', 'x', '--', '--json'],
    ],
  ])('%s %j is one', (name, args) => {
    const quick = plainCall([name, ...args]);
    expect({ input: quick?.input, json: quick?.json }).toEqual(wholly(name, args));
  });

  test.each([
    ['no job', ['status']],
    ['an unknown command', ['toString', 'job']],
    ['a flag of another command', ['status', 'job', '--any']],
    ['a flag twice', ['wait', 'job', '--max-secs', '1', '--max-secs', '2']],
    ['a number that is none', ['wait', 'job', '--max-secs', 'soon']],
    ['a flag without its value', ['start', '--skill', 's', '--run-id', '--', 'true']],
    ['no worker', ['start', ...named, '--']],
    ['a word before the worker', ['start', ...named, 'true', '--', 'true']],
    ['the wish for help', ['start', ...named, '--help', '--', 'true']],
  ])('%s makes none', (_what, args) => {
    expect(plainCall(args)).toBeUndefined();
  });
});
