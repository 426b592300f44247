import { type Caller, messageOf, RunnerError, workingDirectory } from '../index.ts';
import { commandOf, JOBS_COMMAND } from './command.ts';
import { type CliCommand, commandNamed, ok } from './commands.ts';
import { helpFor, overview, shortUsage } from './help.ts';
import { parseCommand } from './parse.ts';
import type { Answer } from './render.ts';

declare const __VERSION__: string;

/** What a whole command line answers; never throws for an expected failure. */
export async function answer(args: readonly string[], entry: string): Promise<Answer> {
  return dispatch(args, entry).catch((error: unknown) => failure(error, args[0]));
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

function callerOf(entry: string): Caller {
  return { env: process.env, cwd: workingDirectory(), entry, client: 'cli' };
}

/** Every expected failure is one line that says what to do; the command line is also told how it is called. */
async function failure(error: unknown, name: string | undefined): Promise<Answer> {
  if (!(error instanceof RunnerError)) {
    const system = error instanceof Error && 'syscall' in error;
    const stderr = system ? error.message : `internal error: ${messageOf(error)}`;
    return { stdout: '', stderr: [stderr], exitCode: 1 };
  }
  const usage = error.kind === 'usage' ? [await usageFor(name)] : [];
  return { stdout: '', stderr: [...usage, error.message], exitCode: error.exitCode };
}

async function usageFor(name: string | undefined): Promise<string> {
  const known = name === undefined ? undefined : await commandNamed(name).catch(() => undefined);
  return shortUsage(known && commandOf(known.operation, known.presentation));
}
