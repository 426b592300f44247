import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  batchArgumentProblem,
  batchCommandLine,
  commandLine,
  commandLineProblem,
  quoteArgument,
  quoteForPosix,
} from '../../../runner-core/platform/windows-command-line.ts';
import { hostileArguments } from '../../windows/hostile-arguments.ts';
import { parseByPosixRuntime, parseByRuntime, splitByCmd } from './windows-parsers.ts';

const nasty = fc.string({ unit: fc.constantFrom(...'ab \t"\\&|<>^()%!\'\n=,;é日*?[]{}~@') });
const argument = fc.oneof(nasty, fc.string({ unit: 'binary' })).map((text) => text.replaceAll('\0', ''));

describe('a command line', () => {
  test('gives back the arguments that it was made of, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(argument), (args) => {
        expect(parseByRuntime(commandLine('C:\\a b\\x.exe', args))).toEqual(['C:\\a b\\x.exe', ...args]);
      }),
    );
  });

  test('leaves alone what needs no quotes', () => {
    expect(['a', '-x=1', 'C:\\x\\', 'a\\\\b'].map(quoteArgument)).toEqual(['a', '-x=1', 'C:\\x\\', 'a\\\\b']);
  });

  test('is refused beyond what Windows takes, with both numbers', () => {
    const line = commandLine('x.exe', ['y'.repeat(40_000)]);
    expect(commandLineProblem(line, false)).toMatch(/40008 characters, and Windows takes 32766/);
    expect(commandLineProblem('x'.repeat(8192), true)).toMatch(/takes 8191/);
    expect(commandLineProblem('x'.repeat(8191), true)).toBeUndefined();
  });
});

describe('a command line for a program of Cygwin’s or MSYS2’s', () => {
  test('gives back the arguments that it was made of, whatever they are: nothing is expanded', () => {
    fc.assert(
      fc.property(fc.array(argument), (args) => {
        const line = commandLine('C:\\a b\\bash.exe', args, quoteForPosix);
        expect(parseByPosixRuntime(line)).toEqual(['C:\\a b\\bash.exe', ...args]);
      }),
    );
  });

  test.each([["it's"], ['*.md'], ['@args'], ['~'], ['{a,b}'], ['printf "a\\\\nb"']])(
    'needs other quotes than the C runtime’s for %j',
    (text) => {
      const line = commandLine('bash.exe', [text, 'b c']);
      expect(() => expect(parseByPosixRuntime(line)).toEqual(['bash.exe', text, 'b c'])).toThrow();
    },
  );

  test('leaves alone what needs no quotes', () => {
    expect(['a', '-x=1', 'C:\\x\\', 'a\\\\b'].map(quoteForPosix)).toEqual(['a', '-x=1', 'C:\\x\\', 'a\\\\b']);
  });
});

describe('a command line for a batch file', () => {
  const CMD = 'C:\\Windows\\System32\\cmd.exe';
  const SCRIPT = 'C:\\a & b\\shim.cmd';
  const harmless = argument.filter((text) => batchArgumentProblem(text) === undefined);

  test('is one command to cmd.exe, whatever the arguments: nothing of them is outside quotes', () => {
    fc.assert(
      fc.property(fc.array(harmless), (args) => {
        expect(splitByCmd(batchCommandLine(CMD, SCRIPT, args))).toHaveLength(1);
      }),
    );
  });

  test('gives the program behind it the arguments as they were', () => {
    fc.assert(
      fc.property(fc.array(harmless), (args) => {
        const [command = ''] = splitByCmd(batchCommandLine(CMD, SCRIPT, args));
        expect(parseByRuntime(command)).toEqual([SCRIPT, ...args]);
      }),
    );
  });

  test.each([
    ['a\nb', 'line break'],
    ['a\rb', 'line break'],
    ['100%', '%'],
    ['%PATH%', '%'],
    ['"&calc', 'quote together'],
    ['^"|x', 'quote together'],
  ])('refuses %j, which could not arrive', (text, why) => {
    expect(batchArgumentProblem(text)).toContain(why);
  });

  test('takes what is plain inside quotes', () => {
    for (const text of ['', 'a b', '&', '|', '^', '!x!', '"', 'k="v"', 'C:\\x\\'])
      expect(batchArgumentProblem(text)).toBeUndefined();
  });

  test('of the hostile lists, each is refused or one command', () => {
    for (const args of hostileArguments('canary')) {
      if (args.some((text) => batchArgumentProblem(text) !== undefined)) continue;
      expect(splitByCmd(batchCommandLine(CMD, SCRIPT, args))).toHaveLength(1);
    }
  });
});
