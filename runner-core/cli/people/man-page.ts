/** The manual page, out of the same table as help and completion (man(7) macros). */
import { type Command, flagMeaning, flagText } from '../command.ts';
import { EXIT_MEANINGS, EXTRAS, usageOf } from '../help.ts';
import { inCommandNames } from '../vocabulary.ts';

/** Text that roff takes as it is: no escape begins in it, and no line of it is a request. */
function roff(text: string): string {
  return inCommandNames(text)
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\u2026', '...')
    .replaceAll(/^(['.])/gm, '\\&$1');
}

function paragraph(term: string, text: string): string {
  return `.TP\n.B ${roff(term)}\n${roff(text)}`;
}

function section(command: Command): string {
  const flags = command.flags.map((flag) => paragraph(flagText(flag), flagMeaning(flag)));
  return [`.SS ${roff(usageOf(command))}`, roff(command.description), ...flags].join('\n');
}

declare const __VERSION__: string;

export function manPage(
  commands: readonly Command[],
  variables: readonly { readonly name: string; readonly meaning: string }[],
): string {
  return `${[
    `.TH PEER\\-JOBS 1 "" "peer\\-jobs ${roff(__VERSION__)}" "User Commands"`,
    '.SH NAME',
    'peer\\-jobs \\- detached, supervised jobs for coding agents',
    '.SH SYNOPSIS',
    '.B peer\\-jobs',
    '.I COMMAND',
    '.RI [ FLAGS ]\n\\&...',
    '.SH DESCRIPTION',
    roff(
      'Starts commands that outlive whoever started them, watches over them, and hands back their results. A JOB is an id or the path of a job directory.',
    ),
    '.SH COMMANDS',
    ...commands.map(section),
    ...EXTRAS.flatMap(({ name, description }) => [`.SS peer\\-jobs ${roff(name)}`, roff(description)]),
    '.SH EXIT STATUS',
    ...EXIT_MEANINGS.map(([code, meaning]) => paragraph(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...variables.map(({ name, meaning }) => paragraph(name, meaning)),
  ].join('\n')}\n`;
}
