import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandOf } from '../../../runner-core/cli/command.ts';
import { nearest } from '../../../runner-core/cli/nearest.ts';
import { checkInput, parseCommand } from '../../../runner-core/cli/parse.ts';
import {
  list,
  log,
  type Operation,
  RunnerError,
  reap,
  result,
  start,
  status,
  wait,
} from '../../../runner-core/index.ts';
import { texts } from '../texts.ts';

/** The table of commands holds operations of every shape, and so does this. */
const shapeOf = (operation: unknown) => commandOf(operation as Operation);
const commands = {
  start: shapeOf(start),
  status: shapeOf(status),
  wait: shapeOf(wait),
  result: shapeOf(result),
  reap: shapeOf(reap),
  list: shapeOf(list),
  log: shapeOf(log),
};
type Name = keyof typeof commands;

const parse = (name: Name, ...args: string[]) => parseCommand(commands[name], args);
const inputOf = (name: Name, ...args: string[]) => parse(name, ...args).input;

function failureOf(act: () => unknown): RunnerError {
  try {
    act();
  } catch (error) {
    if (error instanceof RunnerError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
const usageOf = (name: Name, ...args: string[]): string => {
  const error = failureOf(() => parse(name, ...args));
  expect(error.kind).toBe('usage');
  expect(error.message).not.toContain('\n');
  return error.message;
};

describe('start', () => {
  const required = ['--skill', 's', '--run-id', 'r'];

  test('takes the flags of the reference, and the words after -- as they are', () => {
    const args = [...required, '--label', 'l', '--input-digest', 'd', '--result-path', 'p', '--no-sweep'];
    expect(inputOf('start', ...args, '--', 'sh', '-c', 'x', '--', '--json', '')).toEqual({
      skill: 's',
      run_id: 'r',
      label: 'l',
      input_digest: 'd',
      result_path: 'p',
      sweep: false,
      argv: ['sh', '-c', 'x', '--', '--json', ''],
    });
  });

  test('hands any argv on unchanged', () => {
    fc.assert(
      fc.property(fc.array(texts({ maxLength: 20 }), { maxLength: 8 }), (argv) => {
        expect(inputOf('start', ...required, '--', ...argv).argv).toEqual(argv);
      }),
    );
  });

  test('takes the windows and caps of the job as numbers', () => {
    const names = ['idle-secs', 'hard-secs', 'log-max-bytes', 'result-max-bytes', 'grace-secs', 'wait-secs'];
    const args = names.flatMap((name, index) => [`--${name}`, String(index)]);
    expect(inputOf('start', ...args, '--', 'x')).toMatchObject({
      idle_secs: 0,
      hard_secs: 1,
      log_max_bytes: 2,
      result_max_bytes: 3,
      grace_secs: 4,
      wait_secs: 5,
    });
  });

  test('collects the environment, a value with equals signs, an empty one, and what to unset', () => {
    const args = ['--env', 'A=1', '--env', 'B=x=y', '--env=C=', '--unset-env', 'D', '--unset-env', 'E'];
    expect(inputOf('start', ...args, '--', 'x').env).toEqual({ A: '1', B: 'x=y', C: '', D: null, E: null });
  });

  test('refuses an environment without a name or an equals sign', () => {
    expect(usageOf('start', '--env', 'A', '--', 'x')).toContain('--env takes NAME=VALUE');
    expect(usageOf('start', '--env', '=1', '--', 'x')).toContain('--env takes NAME=VALUE');
  });

  test('refuses words before the --, and says where the worker goes', () => {
    expect(usageOf('start', ...required, 'sleep', '1')).toContain('put the worker after "--"');
  });

  test('without a worker is a failure of its own, not of usage', () => {
    for (const args of [[], ['--']]) {
      const error = failureOf(() => checkInput(start, inputOf('start', ...required, ...args)));
      expect(error.kind).toBe('invalid');
      expect(error.message).toContain('no worker argv');
    }
  });
});

describe('flags', () => {
  test('may be shortened as long as only one begins so', () => {
    expect(inputOf('start', '--sk', 's', '--run', 'r', '--lab=l', '--', 'x')).toMatchObject({
      skill: 's',
      run_id: 'r',
      label: 'l',
    });
    expect(inputOf('wait', '--deadline-s', '5', 'j')).toMatchObject({ deadline_secs: 5 });
    expect(usageOf('wait', '--deadline', '5', 'j')).toBe(
      '--deadline may be --deadline-secs or --deadline-grace-secs',
    );
  });

  test('that are whole are taken, also when another begins so', () => {
    expect(inputOf('start', '--env', 'A=1', '--', 'x').env).toEqual({ A: '1' });
  });

  test('that nobody knows are refused by name', () => {
    expect(usageOf('status', '--frobnicate', 'j')).toContain(
      'unknown flag --frobnicate; peer-jobs status --help',
    );
    expect(usageOf('status', '--skil1', 'j')).toContain('did you mean --skill?');
    expect(usageOf('status', '-x', 'j')).toContain('-x');
  });

  test('without their value are refused', () => {
    expect(usageOf('status', 'j', '--skill')).toContain('--skill');
    expect(usageOf('wait', 'j', '--max-secs')).toContain('--max-secs');
  });

  test('that take no value are refused with one', () => {
    expect(usageOf('status', '--json=yes', 'j')).toContain('--json');
  });

  test('given twice count once, the last time', () => {
    expect(inputOf('wait', '--max-secs', '1', '--max-secs', '2', 'j')).toMatchObject({ max_secs: 2 });
  });

  test('stand before, between and after the jobs', () => {
    expect(parse('wait', 'a', '--max-secs', '1', 'b', '--json')).toMatchObject({
      input: { jobs: ['a', 'b'], max_secs: 1 },
      json: true,
    });
  });
});

describe('a number', () => {
  test.each([
    ['0', 0],
    ['5', 5],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['+5', 5],
    ['1e2', 100],
    [' 5 ', 5],
  ])('may be written as %j', (text, value) => {
    expect(inputOf('wait', `--max-secs=${text}`, 'j')).toMatchObject({ max_secs: value });
  });

  test.each(['', ' ', '5s', '-5', 'nan', 'inf', '-inf', 'Infinity', '1e999', '0x10', '1,5', '٥'])(
    'is refused as %j, and the flag is named',
    (text) => {
      expect(usageOf('wait', `--deadline-secs=${text}`, 'j')).toContain(
        '--deadline-secs takes a finite, non-negative number',
      );
    },
  );

  test.each(['-1', '-0', '-2.5'])('of seconds to wait counts as 0 below it, as %j', (text) => {
    expect(inputOf('wait', '--max-secs', text, 'j')).toMatchObject({ max_secs: 0 });
    expect(inputOf('wait', `--max-secs=${text}`, 'j')).toMatchObject({ max_secs: 0 });
  });

  test('is read from any text or refused for usage, and is never NaN or negative', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
        try {
          const { deadline_secs } = inputOf('wait', `--deadline-secs=${text}`, 'j');
          expect(Number.isFinite(deadline_secs) && Number(deadline_secs) >= 0).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'usage' });
        }
      }),
    );
  });

  test('beyond what the operation takes is refused with its flag', () => {
    const error = failureOf(() => checkInput(wait, inputOf('wait', '--max-secs', '1e12', 'j')));
    expect(error.kind).toBe('usage');
    expect(error.message).toContain('--max-secs');
  });
});

describe('jobs', () => {
  test.each(['status', 'wait', 'reap'] as const)('%s takes one or more, as they are', (name) => {
    expect(inputOf(name, 'a', './b', '/c').jobs).toEqual(['a', './b', '/c']);
    expect(usageOf(name)).toContain('name at least one job');
  });

  test.each(['result', 'log'] as const)('%s takes one', (name) => {
    expect(inputOf(name, 'a').job).toBe('a');
    expect(usageOf(name, 'a', 'b')).toContain('one job at a time; unexpected "b"');
  });

  test('result takes a path in place of one, or beside one', () => {
    expect(inputOf('result', '--path', 'f')).toEqual({ path: 'f' });
    expect(inputOf('result', 'j', '--path', 'f')).toEqual({ job: 'j', path: 'f' });
  });

  test('wait --any waits for any one of them', () => {
    expect(inputOf('wait', '--any', 'a', 'b')).toMatchObject({ until: 'any' });
    expect(inputOf('wait', 'a')).not.toHaveProperty('until');
  });

  test('list takes none', () => {
    expect(usageOf('list', 'j')).toContain('unexpected "j"');
    expect(inputOf('list', '--state', 'running', '--limit', '3')).toEqual({ state: 'running', limit: 3 });
  });
});

test.each([
  [['list', '--state', 'asleep'], /^--state must be one of "done", .*, not "asleep"$/],
  [['list', '--limit', '5000'], /^--limit must be at most 1000, not 5000$/],
  [['list', '--limit', '0'], /^--limit must be more than 0, not 0$/],
  [['list', '--limit', '1.5'], /^--limit must be a whole number, not 1.5$/],
  [['list', '--label='], /^--label must not be empty, not ""$/],
] as const)('%j is told what the flag takes', ([name, ...args], message) => {
  const check = () => checkInput(list, parse(name, ...args).input);
  expect(failureOf(check)).toMatchObject({ kind: 'usage', message: expect.stringMatching(message) });
});

test('every flag of every command leads to a field of its operation, or to how it is shown', () => {
  for (const command of Object.values(commands)) {
    const fields = [...Object.keys(command.operation.input.def.shape), 'json', ''];
    for (const flag of command.flags) expect(fields).toContain(flag.within ?? flag.field);
    expect(new Set(command.flags.map(({ name }) => name)).size).toBe(command.flags.length);
  }
});

test('no words at all make anything but an answer or a refusal for usage, for every command', () => {
  const words = fc.array(
    fc.oneof(
      texts({ maxLength: 8 }),
      fc.constantFrom(
        '--',
        '-',
        '--=',
        '--json',
        '--skill',
        '--env',
        '--__proto__',
        '--env=__proto__=x',
        '-h',
      ),
    ),
    { maxLength: 6 },
  );
  const names = fc.constantFrom<Name>('start', 'status', 'wait', 'result', 'reap', 'list', 'log');
  fc.assert(
    fc.property(names, words, (name, args) => {
      try {
        parse(name, ...args);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'usage' });
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['lable', 'label'],
  ['skil', 'skill'],
  ['run_id', 'run-id'],
  ['x', undefined],
  ['', undefined],
  ['nothing-like-it', undefined],
])('for %j %j was meant', (word, meant) => {
  expect(nearest(word, ['skill', 'run-id', 'label', 'json'])).toBe(meant);
});
