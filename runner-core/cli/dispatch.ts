import { type Caller, RunnerError } from '../index.ts';
import { type CliCommand, COMMANDS, commandNamed } from './commands.ts';
import { helpFor, overview, shortUsage } from './help.ts';
import { commandOf, parseCommand } from './parse.ts';
import type { Answer } from './render.ts';

declare const __VERSION__: string;

function say(stdout: string): Answer {
  return { stdout, stderr: [], exitCode: 0 };
}

/** What a whole command line answers; never throws for an expected failure. */
export async function answer(args: readonly string[], entry: string): Promise<Answer> {
  return dispatch(args, entry).catch((error: unknown) => failure(error, args[0]));
}

async function dispatch(args: readonly string[], entry: string): Promise<Answer> {
  const [name, ...rest] = args;
  if (name === undefined) throw new RunnerError('usage', 'no command given; peer-jobs --help lists them');
  if (name === '--help' || name === '-h' || name === 'help') {
    return say(
      overview(
        COMMANDS.map(({ operation }) => commandOf(operation)),
        __VERSION__,
      ),
    );
  }
  if (name === '--version' || name === '-V') return say(`${__VERSION__}\n`);
  return perform(commandNamed(name), rest, entry);
}

async function perform(command: CliCommand, args: readonly string[], entry: string): Promise<Answer> {
  const shape = commandOf(command.operation);
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('--help') || own.includes('-h')) return say(helpFor(shape));
  const caller: Caller = { env: process.env, cwd: process.cwd(), entry, client: 'cli' };
  return command.run(parseCommand(shape, args), caller);
}

/** Every expected failure is one line that says what to do; the command line is also told how it is called. */
function failure(error: unknown, name: string | undefined): Answer {
  if (!(error instanceof RunnerError)) {
    const system = error instanceof Error && 'syscall' in error;
    const stderr = system
      ? error.message
      : `internal error: ${error instanceof Error ? error.message : String(error)}`;
    return { stdout: '', stderr: [stderr], exitCode: 1 };
  }
  const known = COMMANDS.find(({ operation }) => operation.name === name);
  const usage = error.kind === 'usage' ? [shortUsage(known && commandOf(known.operation))] : [];
  return { stdout: '', stderr: [...usage, error.message], exitCode: error.exitCode };
}
