import { describe, expect, test } from 'vitest';
import { commandOf } from '../../../runner-core/cli/command.ts';
import { helpFor, overview, shortUsage } from '../../../runner-core/cli/help.ts';
import {
  EXIT_CODES,
  list,
  log,
  type Operation,
  reap,
  result,
  start,
  status,
  wait,
} from '../../../runner-core/index.ts';

const commands = [start, status, wait, result, reap, list, log].map((operation: unknown) =>
  commandOf(operation as Operation),
);

describe('the overview', () => {
  const text = overview(commands, '9.8.7');

  test('has a line for every command, for mcp, and the version', () => {
    expect(text).toContain('9.8.7');
    for (const name of [...commands.map(({ operation }) => operation.name), 'mcp'])
      expect(text).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
  });

  test('explains every exit code', () => {
    for (const code of new Set([0, ...Object.values(EXIT_CODES)]))
      expect(text).toMatch(new RegExp(`^  ${code} +\\S`, 'm'));
  });

  test('fits a terminal of 100 columns, without a space at the end of a line', () => {
    for (const line of text.split('\n')) {
      expect(line.length, line).toBeLessThanOrEqual(100);
      expect(line).not.toMatch(/\s$/);
    }
  });
});

describe.each(commands.map((command) => [command.operation.name, command] as const))(
  'the help of %s',
  (name, command) => {
    const text = helpFor(command);

    test('begins with how it is called', () => {
      expect(text.split('\n')[0]).toContain(`peer-jobs ${name} `);
      expect(shortUsage(command)).toBe(text.split('\n')[0]);
    });

    test('explains every flag, with the placeholder of its value', () => {
      for (const flag of command.flags) {
        expect(flag.description, flag.name).not.toBe('');
        const written = flag.value === undefined ? `--${flag.name}` : `--${flag.name} ${flag.value}`;
        expect(text.split(/ {2,}|\n/)).toContain(written);
      }
    });

    test('leaves its explanations most of the line, however long a flag is', () => {
      const [, flags = ''] = text.split('\nflags:\n');
      for (const line of flags.split('\n')) expect(/^ */.exec(line)?.[0].length).toBeLessThanOrEqual(34);
    });

    test('says which flags may be repeated, and of no other', () => {
      const repeatable = command.flags.filter((flag) => flag.repeatable).length;
      expect(text.replaceAll(/\s+/g, ' ').split('May be repeated.')).toHaveLength(repeatable + 1);
    });

    test('has no line that ends in a space', () => {
      for (const line of text.split('\n')) expect(line).not.toMatch(/\s$/);
    });
  },
);

test('a command that there is not gets the general usage', () => {
  expect(shortUsage(undefined)).toBe('usage: peer-jobs COMMAND [FLAGS] …');
});

test('start shows that the worker goes after --', () => {
  expect(shortUsage(commands[0])).toContain('-- ARGV…');
});
