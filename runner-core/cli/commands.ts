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
import type { Declared, Presentation, ShowFlag } from './command.ts';
import { nearest } from './nearest.ts';
import { checkInput, type Invocation } from './parse.ts';
import { type Answer, renderDeadline, renderList, renderStates, spacedJson } from './render.ts';
import { type Output, standardOutput } from './terminal.ts';

/** How an operation is done from the command line. */
export interface CliCommand<D extends Declared = Declared> {
  readonly operation: D;
  readonly presentation: Presentation;
  run(invocation: Invocation, caller: Caller, output?: Output): Promise<Answer>;
}

/** How and where an answer is to be shown. */
interface Showing {
  readonly json: boolean;
  readonly caller: Caller;
  readonly output: Output;
  /** The command's own flags that were given. */
  readonly shown: Readonly<Record<string, string | boolean>>;
}

/** A command that does an operation (`perform`) and shows what came of it. */
export function define<I extends z.ZodMiniObject, O extends z.ZodMiniObject>(
  operation: Operation<I, O>,
  run: (input: z.output<I>, doing: Showing & { perform(): Promise<z.output<O>> }) => Promise<Answer>,
  presentation?: Presentation,
): CliCommand<Operation<I, O>> {
  return defineOwn(
    operation,
    (input, showing) => run(input, { ...showing, perform: () => operation.run(input, showing.caller) }),
    presentation,
  );
}

/** A command that is no operation: only the command line has it. */
export function defineOwn<D extends Declared>(
  declared: D,
  run: (input: z.output<D['input']>, showing: Showing) => Promise<Answer>,
  presentation: Presentation = {},
): CliCommand<D> {
  return {
    operation: declared,
    presentation,
    run: (invocation, caller, output = standardOutput) => {
      const { json, shown = {} } = invocation;
      return run(checkInput<D['input']>(declared, invocation.input), { json, shown, caller, output });
    },
  };
}

export function ok(stdout: string | Buffer, stderr: readonly string[] = []): Answer {
  return { stdout, stderr, exitCode: 0 };
}

function noResult(job: string | undefined): string {
  return `job declared no result path; nothing to emit. What it printed: peer-jobs log ${job}`;
}

/** What there is to show, and what is wrong with the rest: that makes the exit code 1. */
export function withProblems(stdout: string, problems: readonly string[]): Answer {
  return { stdout, stderr: problems, exitCode: problems.length > 0 ? 1 : 0 };
}

/** The rows there are, and the complaints about references that name no job. */
function withUnknown(stdout: string, unknown: readonly { problem: string }[]): Answer {
  return withProblems(
    stdout,
    unknown.map(({ problem }) => problem),
  );
}

const LOG_FLAGS: readonly ShowFlag[] = [
  { name: 'follow', value: undefined, description: 'Go on until the job has settled.' },
  { name: 'tail', value: 'N', description: 'Only the last so many lines.' },
  { name: 'all', value: undefined, description: 'From the very beginning.' },
  {
    name: 'raw',
    value: undefined,
    description: 'The bytes as they are, also on a terminal, where a hostile log could steer it.',
  },
];

/** The commands that programs call. */
export const COMMANDS: readonly CliCommand<Operation>[] = [
  define(
    start,
    async (_input, { json, perform }) => {
      const row = await perform();
      return ok(json ? `${spacedJson(row)}\n` : `${row.job_id}\n`);
    },
    {
      required: ['skill', 'run-id'],
      description:
        'Runs a command as a detached, supervised job that outlives this call, and prints its id. With --wait-secs it first waits for the end. How it ended then tells wait; or --json, which prints the outcome as well, with the result or the end of the log. Not for what asks questions: a worker has no terminal and no stdin.',
    },
  ),
  define(status, async (input, { json, perform }) => {
    const { jobs, unknown } = await perform();
    return withUnknown(
      jobs.length > 0 ? renderStates(jobs, { json, asked: input.jobs.length }) : '',
      unknown,
    );
  }),
  define(
    wait,
    async (input, { json, caller, output, perform }) => {
      const screen = json ? undefined : output.screen();
      const answer = screen
        ? await (await import('./people/live-wait.ts')).liveWait(wait, input, { caller, output, screen })
        : await perform();
      if (answer.jobs.length === 0) return withUnknown('', answer.unknown);
      const stdout =
        input.deadline_secs === undefined
          ? renderStates(answer.jobs, { json, asked: input.jobs.length })
          : renderDeadline(answer, { json });
      return withUnknown(stdout, answer.unknown);
    },
    {
      description:
        'Waits until jobs have settled, and prints how each stands: one word for one job, a line of id and state for each of several. It waits at most --max-secs; running is an ordinary answer: call it again, never start the job again. With --deadline-secs over all of them it prints a row for each, with the reason, and what to do next.',
    },
  ),
  define(result, async (input, { json, caller, perform }) => {
    if (json) return ok(`${spacedJson(await perform())}\n`);
    const artifact = await readArtifact(input, caller);
    const from = input.offset ?? 0;
    const page = artifact.data.subarray(
      from,
      input.max_bytes === undefined ? undefined : from + input.max_bytes,
    );
    return ok(page, artifact.path === null ? [noResult(input.job)] : []);
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
  define(list, async (_input, { json, output, perform }) => {
    const { jobs, more } = await perform();
    const screen = json ? undefined : output.screen();
    if (!screen) return ok(json ? `${spacedJson(jobs)}\n` : renderList(jobs, more));
    const { jobTable } = await import('./people/job-table.ts');
    const lines = jobs.length > 0 ? jobTable(jobs, screen) : ['No jobs found.'];
    return ok([...lines, ...(more ? ['(more: raise --limit)'] : []), ''].join('\n'));
  }),
  define(
    log,
    async (input, { json, shown, caller, output, perform }) => {
      if (json) return ok(`${spacedJson(await perform())}\n`);
      const { lookOf, showLog } = await import('./people/log.ts');
      return showLog(input, lookOf(shown), { caller, output });
    },
    { flags: LOG_FLAGS },
  ),
];

/** Every command, those that only people have included. */
export async function everyCommand(): Promise<CliCommand[]> {
  const { FOR_PEOPLE } = await import('./commands-for-people.ts');
  return [...COMMANDS, ...(await Promise.all(FOR_PEOPLE.map(({ load }) => load())))];
}

/** Throws `usage` for a name that no command has. */
export async function commandNamed(name: string): Promise<CliCommand> {
  const command = COMMANDS.find(({ operation }) => operation.name === name);
  if (command) return command;
  const { FOR_PEOPLE } = await import('./commands-for-people.ts');
  const loadable = FOR_PEOPLE.find((one) => one.name === name);
  if (loadable) return loadable.load();
  const names = [...COMMANDS.map(({ operation }) => operation.name), ...FOR_PEOPLE.map((one) => one.name)];
  const near = nearest(name, names);
  const advice = near === undefined ? `one of ${names.join(', ')}, mcp` : `did you mean ${near}?`;
  throw new RunnerError('usage', `unknown command ${JSON.stringify(name)}; ${advice}`);
}
