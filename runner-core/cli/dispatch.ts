import { RunnerError } from '../index.ts';
import { commandOf, JOBS_COMMAND } from './command.ts';
import { type CliCommand, commandNamed, ok } from './commands.ts';
import { helpFor, overview, shortUsage } from './help.ts';
import { parseCommand } from './parse.ts';
import type { Answer } from './render.ts';
import { callerOf, failure } from './this-process.ts';

declare const __VERSION__: string;

/** What a whole command line answers; never throws for an expected failure. */
export async function answer(args: readonly string[], entry: string): Promise<Answer> {
  return dispatch(args, entry).catch((error: unknown) => failed(error, args[0]));
}

async function dispatch(args: readonly string[], entry: string): Promise<Answer> {
  const [name, ...rest] = args;
  if (name === undefined) throw new RunnerError('usage', 'no command given; peer-jobs --help lists them');
  if (name === '--help' || name === '-h' || name === 'help') {
    const [about] = rest;
    if (about !== undefined && about !== 'mcp') return perform(await commandNamed(about), ['--help'], entry);
    const { vocabulary } = await import('./vocabulary.ts');
    return ok(overview(await vocabulary(), __VERSION__));
  }
  if (name === JOBS_COMMAND) return (await import('./people/job-names.ts')).jobNames(callerOf(entry));
  return perform(await commandNamed(name), rest, entry);
}

async function perform(command: CliCommand, args: readonly string[], entry: string): Promise<Answer> {
  const shape = commandOf(command.operation, command.presentation);
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('--help') || own.includes('-h')) {
    const { inCommandNames } = await import('./vocabulary.ts');
    return ok(inCommandNames(helpFor(shape)));
  }
  return command.run(parseCommand(shape, args), callerOf(entry));
}

/** The command line is also told how it is called. */
async function failed(error: unknown, name: string | undefined): Promise<Answer> {
  const answer = failure(error);
  if (!(error instanceof RunnerError) || error.kind !== 'usage') return answer;
  return { ...answer, stderr: [await usageFor(name), ...answer.stderr] };
}

async function usageFor(name: string | undefined): Promise<string> {
  const known = name === undefined ? undefined : await commandNamed(name).catch(() => undefined);
  return shortUsage(known && commandOf(known.operation, known.presentation));
}
