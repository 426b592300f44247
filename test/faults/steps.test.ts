/**
 * Faults at the steps by which supervisor and commands change the disk: a kill before any one of them, an error from
 * it, a stop at it. A seed chooses what is going on, the step and the fault. PEER_JOBS_FAULT_STEPS=all plays every one.
 */
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  type Job,
  killSupervisor,
  pidsOf,
  ready,
  recordOf,
  requestReap,
  settled,
  start,
} from '../support/jobs.ts';
import { readStat } from '../support/proc.ts';
import { sh } from '../support/programs.ts';
import { readOutcome, readStatus } from '../support/read-job.ts';
import { runProgram } from '../support/run-cli.ts';
import { openTempBase, type TempBase, test } from '../support/temp-base.ts';
import { Canary, call, checkJob, demand, jobsOf, supervisorsOf, workersOf } from './invariants.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Dice, diceOf, seeds } from './seeds.ts';
import {
  errorsOf,
  type Fault,
  nameOf,
  type Step,
  stepsIn,
  tracingMissing,
  withTracedSupervisor,
} from './tracing.ts';

if (tracingMissing) process.stderr.write(`skipped: faults at single steps: ${tracingMissing}\n`);

const known = new Map<Scenario, Promise<Step[]>>();

/** The steps of a scenario, from one run without a fault. */
function stepsOf(scenario: Scenario): Promise<Step[]> {
  const steps = known.get(scenario) ?? lookForSteps(scenario);
  known.set(scenario, steps);
  return steps;
}

async function lookForSteps(scenario: Scenario): Promise<Step[]> {
  const temp = openTempBase();
  try {
    await scenario.play(temp, temp.at('trace'), undefined);
    for (const job of jobsOf(temp)) await call(temp, 'reap', job.id);
    const steps = await eventually(() => {
      // Complete once the tracer is gone.
      const found = stepsIn(temp.at('trace'), temp.base);
      return temp.ledger.living().length === 0 && found;
    });
    expect(steps.length).toBeGreaterThan(3);
    return steps;
  } finally {
    await temp.close();
  }
}

/** Steps at which a supervisor has told its caller already, so that nobody waits for it when it is stopped there. */
const isLate = ({ line }: Step): boolean =>
  /reserve-|\.tmp-|status|reason|outcome/.test(line) && !/O_EXCL/.test(line);

function faultsAt(scenario: Scenario, step: Step, all: readonly Step[]): Fault[] {
  const fault = (effect: string, lasting = false): Fault => ({ step, effect, lasting });
  const acknowledged = all.findLastIndex(({ line }) => /pid"/.test(line) && line.startsWith('rename'));
  const mayStop = scenario.struck === 'supervisor' && all.indexOf(step) > acknowledged && isLate(step);
  return [
    fault('KILL'),
    ...errorsOf(step.syscall).flatMap((errno) => [
      fault(errno),
      ...(step.syscall === 'openat' ? [] : [fault(errno, true)]),
    ]),
    ...(mayStop ? [fault('STOP')] : []),
  ];
}

async function playFault(temp: TempBase, scenario: Scenario, fault: Fault, dice: Dice): Promise<void> {
  const canary = Canary.release(temp);
  try {
    await scenario.play(temp, temp.at('trace'), fault);
    for (const job of jobsOf(temp)) {
      if (fault.effect === 'STOP') await letGoOn(temp, job);
      const question = dice.pick([
        ['status', job.id],
        ['wait', '--max-secs', '0', job.id],
        ['list'],
        ['reap', job.id],
      ] as const);
      await checkJob(temp, job, question, { ...scenario.truth, result: temp.at('out') });
    }
    canary.check();
  } catch (error) {
    throw new Error(`${scenario.name}: ${nameOf(fault)}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  } finally {
    canary.free();
  }
}

/** A supervisor was stopped in the middle: somebody else ends the job, and then it goes on. */
async function letGoOn(temp: TempBase, job: Job): Promise<void> {
  const stopped = await eventually(
    () => supervisorsOf(job).find((pid) => /[Tt]/.test(readStat(pid)?.state ?? '')) ?? readStatus(job.dir),
  );
  await call(temp, 'reap', job.id);
  const record = existsSync(`${job.dir}/status`) ? recordOf(job) : undefined;
  if (typeof stopped === 'number') {
    try {
      process.kill(stopped, 'SIGCONT');
    } catch {
      // the reap let it go on already, and it has ended
    }
  }
  await eventually(() => supervisorsOf(job).length === 0 && workersOf(job.id).length === 0);
  demand(record !== undefined, 'reap left no record');
  demand(
    JSON.stringify(recordOf(job)) === JSON.stringify(record),
    `the supervisor came back and changed the record from ${JSON.stringify(record)} to ${JSON.stringify(recordOf(job))}`,
  );
}

test.skipIf(tracingMissing)(
  'a supervisor whose disk refuses for good gives up within its minute, and the next question settles the job',
  { timeout: 240_000 },
  async ({ temp }) => {
    const [scenario = expect.fail('no scenario')] = scenarios;
    const step = (await stepsOf(scenario)).find(({ syscall }) => syscall === 'fsync');
    const fault: Fault = { step: step ?? expect.fail('no fsync'), effect: 'EIO', lasting: true };
    await scenario.play(temp, temp.at('trace'), fault);
    const [job = expect.fail('no job')] = jobsOf(temp);
    await eventually(() => workersOf(job.id).length === 0);
    expect(supervisorsOf(job)).toHaveLength(1);
    expect(await checkJob(temp, job, ['status', job.id], { ...scenario.truth, result: temp.at('out') })).toBe(
      'running',
    );
  },
);

test.skipIf(tracingMissing)(
  'an adopter whose disk refuses for a while records the end that it has seen',
  async ({ temp }) => {
    const adopting = scenarios.find(({ name }) => name === 'adopter of a living worker');
    const steps = await stepsOf(adopting ?? expect.fail('no scenario'));
    const step = steps.find(({ syscall }) => syscall === 'fsync') ?? expect.fail('no fsync');
    const job = await start(temp, sh('echo "ready $$"; exec sleep 120'));
    await ready(job);
    await killSupervisor(job);
    // It tries again after 50 ms, 200 ms and a second, and learns meanwhile that its worker is gone.
    const fault: Fault = { step, effect: 'EIO', lasting: false, times: 3 };
    const asking = withTracedSupervisor(temp, temp.at('trace'), fault);
    await runProgram([...asking, 'status', job.id], { env: temp.env, cwd: temp.scratch });
    await requestReap(pidsOf(job).supervisor_pid);
    expect(await settled(job)).toBe('timeout');
    expect(readOutcome(job.dir)).toMatchObject({ state: 'timeout', classified_by: 'adopter' });
  },
);

describe.skipIf(tracingMissing)(
  'whatever fails at whichever step, the job comes out true and reachable',
  () => {
    if (process.env.PEER_JOBS_FAULT_STEPS === 'all') {
      for (const scenario of scenarios) {
        test(scenario.name, { timeout: 3_600_000 }, async () => {
          const steps = await stepsOf(scenario);
          const failures: string[] = [];
          let played = 0;
          for (const step of steps) {
            for (const fault of faultsAt(scenario, step, steps)) {
              const temp = openTempBase();
              played += 1;
              try {
                await playFault(temp, scenario, fault, diceOf(played));
                await temp.close();
              } catch (error) {
                failures.push(String(error));
                process.stderr.write(`${error}\n`);
                await temp.close().catch((left: unknown) => failures.push(String(left)));
              }
            }
          }
          process.stderr.write(`${scenario.name}: ${played} faults at ${steps.length} steps\n`);
          expect(failures).toEqual([]);
        });
      }
    } else {
      test.for(seeds)('seed %d', async (seed, { temp }) => {
        const dice = diceOf(seed);
        const scenario = dice.pick(scenarios);
        const steps = await stepsOf(scenario);
        const step = dice.pick(steps);
        await playFault(temp, scenario, dice.pick(faultsAt(scenario, step, steps)), dice);
      });
    }
  },
);
