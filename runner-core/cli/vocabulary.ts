/** The words of the command line, for help, completion and manual. */
import { type Command, commandOf } from './command.ts';
import { COMMANDS, everyCommand } from './commands.ts';

/** Every command with its flags and words, those that only people have included. */
export async function vocabulary(): Promise<Command[]> {
  return (await everyCommand()).map(({ operation, presentation }) => commandOf(operation, presentation));
}

/** A text about operations with the names that commands and flags have, in place of those of tools and arguments. */
export function inCommandNames(text: string): string {
  const names = new Map<string, string>();
  for (const { operation } of COMMANDS) {
    names.set(operation.tool, operation.name);
    for (const field of Object.keys(operation.input.shape)) {
      if (field.includes('_')) names.set(field, `--${field.replaceAll('_', '-')}`);
    }
  }
  return text.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => names.get(word) ?? word);
}
