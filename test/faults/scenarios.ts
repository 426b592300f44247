/** What is going on while a fault strikes: each plays one part of a job's life with one program under the tracer. */
import { hearing, type Job, jobNamed, kill, pidsOf, ready } from '../support/jobs.ts';
import { type Argv, sh } from '../support/programs.ts';
import { type CliRun, runProgram } from '../support/run-cli.ts';
import type { TempBase } from '../support/temp-base.ts';
import { call, checkCall, demand, type Truth } from './invariants.ts';
import { type Fault, tracedCommand, withTracedSupervisor } from './tracing.ts';

export interface Scenario {
  readonly name: string;
  /** Whose system calls are traced. */
  readonly struck: 'supervisor' | 'command';
  play(temp: TempBase, trace: string, fault: Fault | undefined): Promise<void>;
  readonly truth: Omit<Truth, 'result'>;
}

const QUICK = sh('echo "ready $$"; echo x > out');
const LASTING = sh('echo "ready $$"; exec sleep 120');
const PUBLISHED = sh('echo x > out; echo "ready $$"; exec sleep 120');

const START = ['start', '--skill', 's', '--run-id', 'r', '--result-path', 'out', '--'];
const REAPED = { mayTimeOut: true, ends: [] };

async function run(temp: TempBase, argv: Argv, args: readonly string[]): Promise<CliRun> {
  const env = { ...temp.env, CE_PEER_GRACE_SECS: '0.5' };
  const ended = await runProgram([...argv, ...args], { env, cwd: temp.scratch, timeoutMs: 90_000 });
  checkCall(args[0] ?? '', ended);
  return ended;
}

/** A job as every later command finds it, started without any fault. */
async function begin(temp: TempBase, worker: Argv): Promise<Job> {
  const started = await call(temp, ...(START as ['start', ...string[]]), ...worker);
  demand(started.code === 0, `start: ${started.stderr}`);
  const job = jobNamed(temp, started.stdout.toString().trim());
  await ready(job);
  return job;
}

async function abandoned(temp: TempBase, worker: Argv, killed: 'both' | 'supervisor'): Promise<Job> {
  const job = await begin(temp, worker);
  const { supervisor_pid, worker_pid } = pidsOf(job);
  await kill(supervisor_pid);
  if (killed === 'both') await kill(worker_pid);
  return job;
}

const question = (
  command: string,
  worker: Argv,
  killed: 'both' | 'supervisor',
  ...flags: string[]
): Scenario => ({
  name: `${command}, ${killed === 'both' ? 'supervisor and worker' : 'supervisor'} killed before`,
  struck: 'command',
  truth: REAPED,
  play: async (temp, trace, fault) => {
    const job = await abandoned(temp, worker, killed);
    await run(temp, tracedCommand(trace, fault), [
      command,
      ...flags,
      ...(command === 'list' ? [] : [job.id]),
    ]);
  },
});

export const scenarios: readonly Scenario[] = [
  {
    name: 'supervisor of a quick worker',
    struck: 'supervisor',
    truth: REAPED,
    play: async (temp, trace, fault) => {
      await run(temp, withTracedSupervisor(temp, trace, fault), [...START, ...QUICK]);
    },
  },
  {
    name: 'supervisor of a worker that is reaped',
    struck: 'supervisor',
    truth: REAPED,
    play: async (temp, trace, fault) => {
      const started = await run(temp, withTracedSupervisor(temp, trace, fault), [...START, ...LASTING]);
      if (started.code === 0) await call(temp, 'reap', started.stdout.toString().trim());
    },
  },
  {
    name: 'adopter of a living worker',
    struck: 'supervisor',
    truth: REAPED,
    play: async (temp, trace, fault) => {
      const job = await abandoned(temp, LASTING, 'supervisor');
      await run(temp, withTracedSupervisor(temp, trace, fault), ['status', job.id]);
      // One that does not hear yet is ended by the request, and takes no more steps.
      if (!fault) await hearing(pidsOf(job).supervisor_pid);
      await call(temp, 'reap', job.id);
    },
  },
  {
    name: 'start',
    struck: 'command',
    truth: REAPED,
    play: async (temp, trace, fault) => {
      await run(temp, tracedCommand(trace, fault), [...START, ...QUICK]);
    },
  },
  {
    name: 'start with a key',
    struck: 'command',
    truth: REAPED,
    play: async (temp, trace, fault) => {
      const keyed = [...START.slice(0, -1), '--key', 'k', '--', ...QUICK];
      await run(temp, tracedCommand(trace, fault), keyed);
    },
  },
  question('status', LASTING, 'both'),
  question('status', PUBLISHED, 'both'),
  question('status', LASTING, 'supervisor'),
  question('wait', PUBLISHED, 'both', '--max-secs', '5'),
  question('list', LASTING, 'both'),
  question('result', PUBLISHED, 'both'),
  question('reap', LASTING, 'supervisor'),
  question('reap', PUBLISHED, 'supervisor'),
  question('reap', LASTING, 'both'),
];
