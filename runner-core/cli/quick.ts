/**
 * The plain forms of what programs call again and again, done without the rest of the command line: to the same end, in a
 * fraction of the time that it takes to set up. Whatever is not plain, a mistake above all, is left to that.
 */
import {
  awaitJobs,
  type Caller,
  findJobs,
  jobIdOf,
  planFor,
  type StartInput,
  settle,
  startJob,
  WAIT_DEFAULT_SECS,
  waitSecs,
} from '../lean.ts';
import { type Answer, renderStates, type Standing } from './render.ts';
import { standardOutput } from './terminal.ts';
import { callerOf, failure } from './this-process.ts';

interface Words {
  readonly plain: readonly string[];
  /** By their names; a switch has its own name as its value. */
  readonly flags: ReadonlyMap<string, string>;
  /** What follows `--`. */
  readonly worker: readonly string[];
}

interface JobsInput {
  readonly jobs: string[];
  readonly max_secs?: number;
  readonly until?: 'any';
}

/** A call that was understood: what the operation would be given, and how to do it. */
export interface PlainCall {
  readonly input: JobsInput | StartInput;
  readonly json: boolean;
  run(caller: Caller): Promise<Answer>;
}

interface QuickCommand {
  /** Each with a value; any flag that is neither here nor in `switches` makes a call not plain. */
  readonly valued: readonly string[];
  readonly switches: readonly string[];
  call(words: Words): PlainCall | undefined;
}

const SECONDS = /^\d{1,6}(\.\d{1,9})?$/;

const COMMANDS: Readonly<Record<string, QuickCommand>> = {
  status: {
    valued: [],
    switches: ['json'],
    call: ({ plain, flags, worker }) => {
      if (plain.length === 0 || worker.length > 0) return undefined;
      const input = { jobs: [...plain] };
      const json = flags.has('json');
      return { input, json, run: (caller) => status(input, json, caller) };
    },
  },
  wait: {
    valued: ['max-secs'],
    switches: ['any', 'json'],
    call: ({ plain, flags, worker }) => {
      const secs = flags.get('max-secs');
      if (plain.length === 0 || worker.length > 0 || !SECONDS.test(secs ?? '0')) return undefined;
      // A person at a terminal is shown more than the end.
      if (standardOutput.screen()) return undefined;
      const input = {
        jobs: [...plain],
        ...(secs === undefined ? {} : { max_secs: Number(secs) }),
        ...(flags.has('any') ? { until: 'any' as const } : {}),
      };
      const json = flags.has('json');
      return { input, json, run: (caller) => wait(input, json, caller) };
    },
  },
  start: {
    valued: ['skill', 'run-id', 'label', 'input-digest', 'result-path'],
    switches: ['no-sweep'],
    call: ({ plain, flags, worker }) => {
      if (plain.length > 0 || worker.length === 0 || !flags.has('skill') || !flags.has('run-id'))
        return undefined;
      const given = [...flags].map(([name, value]) =>
        name === 'no-sweep' ? ['sweep', false] : [name.replaceAll('-', '_'), value],
      );
      const input: StartInput = { ...Object.fromEntries(given), argv: [...worker] };
      return { input, json: false, run: (caller) => start(input, caller) };
    },
  },
};

/** What a command line asks for, if it is plain. */
export function plainCall(args: readonly string[]): PlainCall | undefined {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const words = command && wordsOf(command, rest);
  return words && command.call(words);
}

/** What a plain command line answers; undefined for any other. Never throws for an expected failure. */
export async function quickly(args: readonly string[], entry: string): Promise<Answer | undefined> {
  const call = plainCall(args);
  return call?.run(callerOf(entry)).catch(failure);
}

/** Undefined for what takes more knowledge of flags to read. */
function wordsOf({ valued, switches }: QuickCommand, args: readonly string[]): Words | undefined {
  const split = args.indexOf('--');
  const before = split === -1 ? args : args.slice(0, split);
  const plain: string[] = [];
  const flags = new Map<string, string>();
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? '';
    if (!word.startsWith('-')) {
      plain.push(word);
      continue;
    }
    const name = word.slice(2);
    if (!word.startsWith('--') || flags.has(name)) return undefined;
    if (switches.includes(name)) flags.set(name, name);
    else if (valued.includes(name)) {
      at += 1;
      const value = before[at];
      if (!value || value.startsWith('-')) return undefined;
      flags.set(name, value);
    } else return undefined;
  }
  return { plain, flags, worker: split === -1 ? [] : args.slice(split + 1) };
}

async function status({ jobs }: JobsInput, json: boolean, caller: Caller): Promise<Answer> {
  const { found, unknown } = findJobs(jobs, caller, undefined);
  const standing = found.map(async (job) => ({ ...job, state: await settle(job.jobDir, caller.entry) }));
  return tell(await Promise.all(standing), unknown, { json, asked: jobs.length });
}

async function wait({ jobs, max_secs, until }: JobsInput, json: boolean, caller: Caller): Promise<Answer> {
  const { found, unknown } = findJobs(jobs, caller, undefined);
  const budgetMs = waitSecs(max_secs, caller, WAIT_DEFAULT_SECS) * 1000;
  const watched = await awaitJobs(found, { budgetMs, until: until ?? 'all' }, caller);
  return tell(watched, unknown, { json, asked: jobs.length });
}

function tell(
  jobs: readonly (Omit<Standing, 'job_dir'> & { jobDir: string })[],
  unknown: readonly { problem: string }[],
  how: { json: boolean; asked: number },
): Answer {
  const rows = jobs.map(({ ref, jobDir, state }) => ({ ref, job_dir: jobDir, state }));
  return {
    stdout: rows.length > 0 ? renderStates(rows, how) : '',
    stderr: unknown.map(({ problem }) => problem),
    exitCode: unknown.length > 0 ? 1 : 0,
  };
}

async function start(input: StartInput, caller: Caller): Promise<Answer> {
  const { jobDir } = await startJob(planFor(input, caller), caller);
  return { stdout: `${jobIdOf(jobDir)}\n`, stderr: [], exitCode: 0 };
}
