/** Every word of the command line, for help, completion and manual. */
import { type Command, commandOf } from './command.ts';
import { COMMANDS, everyCommand } from './commands.ts';
import { EXTRAS } from './help.ts';

export interface Vocabulary {
  readonly commands: readonly Command[];
  /** What stands where a command stands, and takes nothing of it. */
  readonly extras: readonly { readonly name: string; readonly description: string }[];
}

export async function vocabulary(): Promise<Vocabulary> {
  const commands = await everyCommand();
  return { commands: commands.map(({ operation, flags }) => commandOf(operation, flags)), extras: EXTRAS };
}

/** A text about operations with the names that their commands have, in place of those of the tools. */
export function inCommandNames(text: string): string {
  return COMMANDS.reduce(
    (said, { operation }) => said.replaceAll(new RegExp(`\\b${operation.tool}\\b`, 'g'), operation.name),
    text,
  );
}
