import type * as z from 'zod/mini';
import {
  type Caller,
  list,
  log,
  type Operation,
  RunnerError,
  readArtifact,
  reap,
  result,
  start,
  status,
  wait,
} from '../index.ts';
import { checkInput, type Invocation } from './parse.ts';
import { type Answer, renderDeadline, renderList, renderStates, spacedJson } from './render.ts';

/** How an operation is done from the command line. */
export interface CliCommand {
  readonly operation: Operation;
  run(invocation: Invocation, caller: Caller): Promise<Answer>;
}

function define<I extends z.ZodMiniObject, O extends z.ZodMiniObject>(
  operation: Operation<I, O>,
  run: (
    input: z.output<I>,
    options: { json: boolean; caller: Caller; perform: () => Promise<z.output<O>> },
  ) => Promise<Answer>,
): CliCommand {
  return {
    // The table holds operations of every shape; each is only ever called through its own closure.
    operation: operation as unknown as Operation,
    run: (invocation, caller) => {
      const input = checkInput(operation, invocation.input);
      return run(input, { json: invocation.json, caller, perform: () => operation.run(input, caller) });
    },
  };
}

function ok(stdout: string | Buffer, stderr: readonly string[] = []): Answer {
  return { stdout, stderr, exitCode: 0 };
}

/** The rows there are, and the complaints about references that name no job: those make the exit code 1. */
function withUnknown(stdout: string, unknown: readonly { problem: string }[]): Answer {
  return { stdout, stderr: unknown.map(({ problem }) => problem), exitCode: unknown.length > 0 ? 1 : 0 };
}

export const COMMANDS: readonly CliCommand[] = [
  define(start, async (_input, { json, perform }) => {
    const row = await perform();
    return ok(json ? `${spacedJson(row)}\n` : `${row.job_id}\n`);
  }),
  define(status, async (input, { json, perform }) => {
    const { jobs, unknown } = await perform();
    return withUnknown(
      jobs.length > 0 ? renderStates(jobs, { json, asked: input.jobs.length }) : '',
      unknown,
    );
  }),
  define(wait, async (input, { json, perform }) => {
    const answer = await perform();
    if (answer.jobs.length === 0) return withUnknown('', answer.unknown);
    const stdout =
      input.deadline_secs === undefined
        ? renderStates(answer.jobs, { json, asked: input.jobs.length })
        : renderDeadline(answer, { json });
    return withUnknown(stdout, answer.unknown);
  }),
  define(result, async (input, { json, caller, perform }) => {
    if (json) return ok(`${spacedJson(await perform())}\n`);
    const artifact = await readArtifact(input, caller);
    const from = input.offset ?? 0;
    const page = artifact.data.subarray(
      from,
      input.max_bytes === undefined ? undefined : from + input.max_bytes,
    );
    return ok(page, artifact.path === null ? ['job declared no result path; nothing to emit'] : []);
  }),
  define(reap, async (_input, { json, perform }) => {
    const { jobs, unknown } = await perform();
    const codes = new Set([
      ...unknown.map(() => 1),
      ...jobs.filter((job) => job.problem !== null).map((job) => (job.state === 'unreadable' ? 4 : 1)),
    ]);
    const stderr = [...unknown, ...jobs].flatMap(({ problem }) => problem ?? []);
    const [only = 0, ...others] = codes;
    return { stdout: json ? `${spacedJson(jobs)}\n` : '', stderr, exitCode: others.length > 0 ? 1 : only };
  }),
  define(list, async (_input, { json, perform }) => {
    const { jobs, more } = await perform();
    return ok(json ? `${spacedJson(jobs)}\n` : renderList(jobs, more));
  }),
  define(log, async (_input, { json, perform }) => {
    const page = await perform();
    if (json) return ok(`${spacedJson(page)}\n`);
    return ok(page.base64 === undefined ? (page.text ?? '') : Buffer.from(page.base64, 'base64'));
  }),
];

/** Throws `usage` for a name that no command has. */
export function commandNamed(name: string): CliCommand {
  const command = COMMANDS.find(({ operation }) => operation.name === name);
  if (command) return command;
  throw new RunnerError(
    'usage',
    `unknown command ${JSON.stringify(name)}; one of ${COMMANDS.map(({ operation }) => operation.name).join(', ')}, mcp`,
  );
}
