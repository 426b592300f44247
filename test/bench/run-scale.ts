import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../support/proc.ts';
import { commandOf, referenceMissing, repoRoot } from '../support/programs.ts';
import { jobDirsBelow } from '../support/read-job.ts';
import { type Asleep, asleep } from './asleep.ts';
import { keepBundles } from './bundles.ts';
import { Samples, timed } from './figures.ts';
import { type Flood, flood, PACED, UNPACED } from './flood.ts';
import { pidsOf } from './job-pids.ts';
import { grow, measureRung, type Started } from './ladder.ts';
import { machine } from './machine.ts';
import { layOldJobs } from './old-jobs.ts';
import { openPlace, type Place } from './place.ts';
import { scalePlot } from './plot.ts';
import { scaleTable } from './scale-report.ts';
import { Session } from './session.ts';
import { runWhole } from './whole-process.ts';

/** For what has to be done when the run is interrupted too. */
const never = new AbortController().signal;

const SUPERVISED = 20;
const OLD_JOBS = 10_000;
const OLD_PER_RUN = 4;
const FLOOD_CAP_BYTES = 10 * 2 ** 20;
const LONG_FLOOD_CAP_BYTES = 4 * 2 ** 30;
const FLOODS = 5;

export interface ScaleFigures {
  readonly rungs: readonly string[];
  readonly samples: Samples;
  readonly asleep: Record<string, Asleep>;
  readonly floods: readonly Flood[];
  readonly longFlood: Flood;
  readonly crowd: {
    readonly jobs: number;
    readonly msPerStart: number;
    readonly reapedMs: number;
    readonly timedOut: number;
    readonly left: number;
  };
}

export async function runScale({ most, out }: { most: number; out: string | undefined }): Promise<void> {
  const place = openPlace();
  const bundles = keepBundles();
  const session = await Session.open(bundles.server, { env: place.env, cwd: place.dir });
  const crowd: Started[] = [];
  try {
    const figures = await measure(session, crowd, place, most);
    const folder = out ?? join(repoRoot, 'docs/bench');
    mkdirSync(folder, { recursive: true });
    const table = scaleTable(figures, machine());
    writeFileSync(join(folder, 'scale.json'), `${JSON.stringify({ machine: machine(), ...figures })}\n`);
    writeFileSync(join(folder, 'scale.md'), table);
    writeFileSync(join(folder, 'scale.svg'), scalePlot(figures));
    console.log(table);
  } finally {
    await reapAll(session).catch((error) => console.error(error));
    await session.close();
    bundles.remove();
    place.remove();
  }
}

async function measure(
  session: Session,
  crowd: Started[],
  place: Place,
  most: number,
): Promise<ScaleFigures> {
  const say = (line: string): void => console.error(line);
  const samples = new Samples();
  const sleepers: Record<string, Asleep> = {};

  const floods: Flood[] = [];
  for (let round = 0; round < FLOODS; round += 1) floods.push(await flood(session, PACED, FLOOD_CAP_BYTES));
  const longFlood = await flood(session, UNPACED, LONG_FLOOD_CAP_BYTES);
  say('floods are over');

  if (referenceMissing() === undefined) sleepers.reference = await referenceAsleep(place);
  await grow(session, crowd, SUPERVISED);
  sleepers['peer-jobs'] = await asleep(crowd.map(({ dir }) => pidsOf(dir).supervisor));
  say('sleepers are measured');

  const counts = [1, 10, 100, 300, 1000].filter((count) => count <= most);
  const rungs: string[] = [];
  const rung = async (name: string): Promise<void> => {
    await measureRung(session, crowd, name, samples, place.dir);
    rungs.push(name);
    say(`measured with ${name} jobs`);
  };
  await reapAll(session);
  crowd.length = 0;
  let msPerStart = 0;
  for (const count of counts) {
    msPerStart = await grow(session, crowd, count);
    await rung(String(count));
  }
  sleepers[`peer-jobs, ${crowd.length} alive`] = await asleep(crowd.map(({ dir }) => pidsOf(dir).supervisor));
  layOldJobs(place.base, OLD_JOBS, OLD_PER_RUN);
  await rung(`${crowd.length} + ${OLD_JOBS} old`);

  const reaped = await timed(() => reapAll(session));
  const pids = crowd.flatMap(({ dir }) => Object.values(pidsOf(dir)));
  return {
    rungs,
    samples,
    asleep: sleepers,
    floods,
    longFlood,
    crowd: {
      jobs: crowd.length,
      msPerStart,
      reapedMs: reaped.ms,
      timedOut: await timedOutOf(session, crowd),
      left: pids.filter(isAlive).length,
    },
  };
}

/** Ends every job that runs, also when the run is interrupted. */
async function reapAll(session: Session): Promise<void> {
  for (;;) {
    const { jobs = [] } = await session.callAnyway('list_jobs', { state: 'running', limit: 1000 });
    if (jobs.length === 0) return;
    await session.callAnyway('reap_job', { jobs: jobs.map((job) => job.job_id) });
  }
}

/** How many of the crowd are recorded as ended by the reap. */
async function timedOutOf(session: Session, crowd: readonly Started[]): Promise<number> {
  const { jobs = [] } = await session.call('job_status', { jobs: crowd.map(({ id }) => id) });
  return jobs.filter(({ state }) => state === 'timeout').length;
}

async function referenceAsleep(place: Place): Promise<Asleep> {
  const options = { env: { ...place.env, CE_PEER_JOBS_ROOT: join(place.dir, 'reference') }, cwd: place.dir };
  const run = (...args: string[]): Promise<string> => runWhole([...commandOf('reference'), ...args], options);
  const ids: string[] = [];
  for (let job = 0; job < SUPERVISED; job += 1) {
    ids.push(await run('start', '--skill', 'bench', '--run-id', 'r', '--', 'sleep', '3000'));
  }
  try {
    const dirs = jobDirsBelow(join(place.dir, 'reference'));
    return await asleep(dirs.map((dir) => pidsOf(dir).supervisor));
  } finally {
    await runWhole([...commandOf('reference'), 'reap', ...ids], options, never);
  }
}
