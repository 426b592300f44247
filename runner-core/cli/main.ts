import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Caller, RunnerError, runSupervisor } from '../index.ts';
import { type CliCommand, COMMANDS, commandNamed } from './commands.ts';
import { helpFor, overview, shortUsage } from './help.ts';
import { commandOf, parseCommand } from './parse.ts';
import type { Answer } from './render.ts';

declare const __VERSION__: string;

const entry = fileURLToPath(import.meta.url);

function say(stdout: string): Answer {
  return { stdout, stderr: [], exitCode: 0 };
}

async function answer(args: readonly string[]): Promise<Answer> {
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
  return perform(commandNamed(name), rest);
}

async function perform(command: CliCommand, args: readonly string[]): Promise<Answer> {
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

/** Blocking, so that the process may end right after, and a full pipe is waited for. */
function writeAll(fd: number, data: Buffer): void {
  for (let written = 0; written < data.length; ) {
    try {
      written += writeSync(fd, data, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else return;
    }
  }
}

async function main(args: readonly string[]): Promise<number> {
  const [name] = args;
  if (name === '__supervise') {
    await runSupervisor();
    return 0;
  }
  if (name === 'mcp') {
    // Beside this file; left to run as long as its client does.
    await import(new URL('./server.mjs', import.meta.url).href);
    return -1;
  }
  const { stdout, stderr, exitCode } = await answer(args).catch((error: unknown) => failure(error, name));
  writeAll(1, Buffer.from(stdout));
  writeAll(2, Buffer.from(stderr.map((line) => `peer-jobs: ${line}\n`).join('')));
  return exitCode;
}

void main(process.argv.slice(2)).then((code) => {
  if (code >= 0) process.exit(code);
});
