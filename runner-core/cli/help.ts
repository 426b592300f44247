import { EXIT_CODES } from '../index.ts';
import { type Command, callOf, flagMeaning, flagText } from './command.ts';

/** Each exit code of the command line, with what it says. */
export const EXIT_MEANINGS: readonly [number, string][] = [
  [0, 'the command itself worked. What became of a job is on stdout, not in the exit code.'],
  [
    EXIT_CODES.unknown,
    'it failed: unknown job, worker not found, nothing could be detached; jobs failed in different ways; a job was not removed; doctor found a problem.',
  ],
  [EXIT_CODES.usage, 'it was called wrongly; for result: the job is still running.'],
  [EXIT_CODES.absent, 'for result: the job did not end done, or the file is missing.'],
  [EXIT_CODES.refused, 'a read was refused: wrong owner, a link, not a regular file, over its cap.'],
];

export function usageOf(command: Command): string {
  return `peer-jobs ${callOf(command, '[FLAGS]')}`;
}

/** What stands where a command stands, and is none of the table's. */
export const EXTRAS = [
  { name: 'mcp', description: 'Serve the same operations over MCP on stdin and stdout' },
] as const;

/** Each name that may come first, with one line on what it is for. */
export function summaries(commands: readonly Command[]): (readonly [string, string])[] {
  return [
    ...commands.map(
      ({ operation, description }) => [operation.name, description.split('. ')[0] ?? ''] as const,
    ),
    ...EXTRAS.map(({ name, description }) => [name, description] as const),
  ];
}

function wrap(text: string, indent: number, width = 100): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > width - indent && line !== '') lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

/** What is longer has a line of its own, so that it leaves the others their room. */
const LEFT_MAX = 30;

function table(rows: readonly (readonly [string, string])[]): string {
  const widths = rows.map(([left]) => left.length).filter((width) => width <= LEFT_MAX);
  const width = Math.max(0, ...widths) + 2;
  const row = ([left, right]: readonly [string, string]): string =>
    left.length < width
      ? `  ${left.padEnd(width)}${wrap(right, width + 2)}`
      : `  ${left}\n${' '.repeat(width + 2)}${wrap(right, width + 2)}`;
  return rows.map(row).join('\n');
}

/** `peer-jobs --help`. */
export function overview(commands: readonly Command[], version: string): string {
  return `peer-jobs ${version}: detached, supervised jobs for coding agents.

usage: peer-jobs COMMAND [FLAGS] …

commands:
${table(summaries(commands))}

peer-jobs COMMAND --help explains the flags. A JOB is an id or the path of a job directory.

exit codes:
${table(EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning]))}
`;
}

/** `peer-jobs COMMAND --help`. */
export function helpFor(command: Command): string {
  const flags = command.flags.map((flag) => [flagText(flag), flagMeaning(flag)] as const);
  return `usage: ${usageOf(command)}

${wrap(command.description, 0)}
${flags.length > 0 ? `\nflags:\n${table(flags)}\n` : ''}`;
}

export function shortUsage(command: Command | undefined): string {
  return command ? `usage: ${usageOf(command)}` : 'usage: peer-jobs COMMAND [FLAGS] …';
}
