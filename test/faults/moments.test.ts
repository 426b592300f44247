/**
 * Kills at random moments of a job's life: the supervisor, or it and the worker, or a stop that somebody else's reap
 * crosses. A seed chooses the worker, the moment, the victims and the question that follows.
 */
import { setTimeout as passing } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { BRISK, type Job, jobsBelow, recordOf } from '../support/jobs.ts';
import { commandLineOf, identityOf, isAliveAs, listPids, readEnviron, readStat } from '../support/proc.ts';
import { type Argv, sh } from '../support/programs.ts';
import { readStatus } from '../support/read-job.ts';
import type { CliRun } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { Canary, call, checkCall, checkJob, demand, type Truth, workersOf } from './invariants.ts';
import { type Dice, diceOf, seeds } from './seeds.ts';

interface Life {
  readonly name: string;
  readonly worker: Argv;
  readonly flags: readonly string[];
  readonly truth: Omit<Truth, 'result'>;
}

const REAPED = { mayTimeOut: true, ends: [] };
const FAILS = { mayTimeOut: true, ends: ['failed'] };

/** Every one may be reaped by the check, so a timeout is always possible; that a window closed is another matter. */
const lives: readonly Life[] = [
  { name: 'publishes at once', worker: sh('echo x > out'), flags: [], truth: REAPED },
  { name: 'publishes after a while', worker: sh('sleep 0.2; echo x > out'), flags: [], truth: REAPED },
  { name: 'fails', worker: sh('sleep 0.1; exit 3'), flags: [], truth: FAILS },
  { name: 'lasts', worker: sh('echo begun; exec sleep 120'), flags: [], truth: REAPED },
  {
    name: 'is deaf and has a family',
    worker: sh("trap '' TERM; setsid sleep 120 & sleep 120 & wait; wait"),
    flags: [],
    truth: REAPED,
  },
  { name: 'is silent', worker: sh('exec sleep 120'), flags: ['--idle-secs', '0.3'], truth: REAPED },
  { name: 'floods', worker: ['yes'], flags: ['--log-max-bytes', '200000'], truth: REAPED },
  {
    name: 'published and lasts',
    worker: sh('echo x > out; exec sleep 120'),
    flags: ['--hard-secs', '0.5'],
    truth: REAPED,
  },
];

/** The first supervisor of this test's base, as soon as there is one; undefined if the start ended without. */
async function firstSupervisor(temp: TempBase, started: Promise<unknown>): Promise<number | undefined> {
  let over = false;
  void started.then(() => {
    over = true;
  });
  const strangers = new Map<number, string | undefined>();
  for (let last = false; ; last = over) {
    for (const pid of listPids()) {
      const line = commandLineOf(pid);
      if (strangers.get(pid) === line) continue;
      strangers.set(pid, line);
      if (!/ __supervise/.test(line) || /^\S*sh /.test(line)) continue;
      if (readEnviron(pid)?.get('PATH')?.startsWith(temp.root)) return pid;
    }
    if (last) return undefined;
    await passing(5);
  }
}

type Victims = 'supervisor' | 'supervisor, then worker' | 'worker, then supervisor' | 'stop';

async function strike(victims: Victims, supervisor: number, temp: TempBase): Promise<void> {
  const identity = identityOf(supervisor);
  const send = (pid: number, signal: NodeJS.Signals): void => {
    try {
      process.kill(pid, signal);
    } catch {
      // it was faster
    }
  };
  const workers = (): number[] =>
    jobsBelow(temp.base)
      .flatMap((job) => workersOf(job.id))
      .filter((pid) => readStat(pid)?.session === pid);
  if (victims === 'worker, then supervisor') for (const pid of workers()) send(pid, 'SIGKILL');
  if (identity !== undefined && isAliveAs(supervisor, identity)) {
    send(supervisor, victims === 'stop' ? 'SIGSTOP' : 'SIGKILL');
    const isStruck = (): boolean => victims === 'stop' && readStat(supervisor)?.state === 'T';
    await eventually(() => isStruck() || !isAliveAs(supervisor, identity));
  }
  if (victims === 'supervisor, then worker') for (const pid of workers()) send(pid, 'SIGKILL');
}

function startAsync(temp: TempBase, life: Life): Promise<CliRun> {
  const args = [
    'start',
    '--skill',
    's',
    '--run-id',
    'r',
    '--result-path',
    'out',
    ...life.flags,
    '--',
    ...life.worker,
  ];
  // The supervisor gets nothing of its caller's environment but PATH: that tells whose it is before any job names it.
  const PATH = `${temp.root}/none:${process.env.PATH}`;
  return temp.run('ours', args, { extra: { ...BRISK, PATH }, timeoutMs: 90_000 });
}

/** While the supervisor stands still somebody reaps; then it goes on, and must change nothing. */
async function crossing(temp: TempBase, supervisor: number): Promise<void> {
  const jobs = jobsBelow(temp.base);
  for (const job of jobs) await call(temp, 'reap', job.id);
  const records = jobs.map((job) => (readStatus(job.dir) ? JSON.stringify(recordOf(job)) : undefined));
  const identity = identityOf(supervisor) ?? '';
  if (readStat(supervisor)?.state === 'T' && isAliveAs(supervisor, identity))
    process.kill(supervisor, 'SIGCONT');
  await eventually(() => !isAliveAs(supervisor, identity));
  for (const [at, job] of jobs.entries()) {
    if (records[at] === undefined) continue;
    demand(
      JSON.stringify(recordOf(job)) === records[at],
      `the supervisor came back and changed ${records[at]} to ${JSON.stringify(recordOf(job))}`,
    );
  }
}

async function play(temp: TempBase, dice: Dice, story: string[]): Promise<void> {
  const life = dice.pick(lives);
  const victims = dice.pick([
    'supervisor',
    'supervisor',
    'supervisor, then worker',
    'worker, then supervisor',
    'stop',
  ] as const);
  const moment = dice.number() < 0.25 ? 0 : Math.floor(dice.number() ** 2 * 900);
  const reapBefore = dice.number() < 0.3;
  const ask = dice.pick(['status', 'wait', 'list', 'reap'] as const);
  story.push(
    `a worker that ${life.name}; ${victims} at ${moment} ms${reapBefore ? ', during a reap' : ''}; then ${ask}`,
  );

  const starting = startAsync(temp, life);
  const supervisor = await firstSupervisor(
    temp,
    starting.catch(() => undefined),
  );
  await passing(moment);
  const reaping = reapBefore
    ? jobsBelow(temp.base).map((job) => temp.run('ours', ['reap', job.id], { extra: BRISK }))
    : [];
  if (reapBefore) await passing(dice.number() * 300);
  if (supervisor !== undefined) await strike(victims, supervisor, temp);
  if (victims === 'stop' && supervisor !== undefined) {
    // A start that was not acknowledged yet would wait for its whole budget.
    const acknowledged = await Promise.race([starting.then(() => true), passing(3000, false)]);
    if (acknowledged) await crossing(temp, supervisor);
    else process.kill(supervisor, 'SIGCONT');
  }
  const started = await starting;
  checkCall('start', started);
  story.push(`start: exit ${started.code} ${started.stderr.trim()}`);
  for (const reaped of await Promise.all(reaping)) checkCall('reap', reaped);
  for (const job of jobsBelow(temp.base))
    story.push(
      `${job.id}: ${await checkJob(temp, job, questionOf(ask, job), { ...life.truth, result: temp.at('out') })}`,
    );
}

function questionOf(ask: 'status' | 'wait' | 'list' | 'reap', job: Job): [string, ...string[]] {
  if (ask === 'list') return ['list'];
  return ask === 'wait' ? ['wait', '--max-secs', '0', job.id] : [ask, job.id];
}

test.concurrent.for(seeds)('seed %d', { timeout: 240_000 }, async (seed, { temp }) => {
  const canary = Canary.release(temp);
  const story: string[] = [];
  try {
    await play(temp, diceOf(seed), story);
    canary.check();
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${what}\n  ${story.join('\n  ')}`, { cause: error });
  } finally {
    canary.free();
  }
});
