/** A supervisor inside a job of Slurm: in the foreground, with the job directory as all that it is told. */
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { type Ending, REAPED } from '../job/classify.ts';
import { shaped } from '../job/shape.ts';
import { isTerminal, type Verdict } from '../job/state.ts';
import { HEARTBEAT_MS, HEARTBEAT_STALE_MS, REAP_LOOK_MS } from '../limits.ts';
import { platform, type RunningWorker } from '../platform/index.ts';
import {
  beat,
  engineOutput,
  heartbeatAgeMs,
  isAskedToReap,
  readClaim,
  takeClaim,
  takeLaunchSpec,
} from '../store/engine-files.ts';
import { isOwnJobDir, recordedState } from '../store/job-dir.ts';
import { finish } from '../supervisor/finish.ts';
import { launch } from '../supervisor/launch.ts';
import { supervisorSpec } from '../supervisor/spec.ts';
import { supervise } from '../supervisor/supervise.ts';
import { whyTerminated, workerEnvironment } from './slurm-states.ts';

/** As the cluster calls it, which may run several on one host. */
const node = process.env.SLURMD_NODENAME ?? hostname();
/** Slurm signals worker and supervisor alike: an end is not judged before a TERM that came with it. */
const TERM_NEWS_MS = 500;
/** How often a second copy of a job looks for what became of the first. */
const RIVAL_POLL_MS = 1000;

/** Runs the job, unless it is another's to run. Gives the exit code of the Slurm job: 0 for a job that is done. */
export async function superviseInside(jobDir: string): Promise<number> {
  // Node opens a debugger's port to every local user at this signal, unless somebody listens for it.
  process.on('SIGUSR1', () => undefined);
  const term = new Term();
  const engineId = process.env.SLURM_JOB_ID ?? '';
  if (!isOwnJobDir(jobDir))
    throw new Error(`${jobDir} is not a directory of the user's here; is it shared with this node?`);
  if (!isTerminal(recordedState(jobDir))) {
    if (takeClaim(jobDir, { by: 'supervisor', host: node, engine_id: engineId })) {
      await runClaimed(jobDir, engineId, term);
    } else {
      await standBy(jobDir);
    }
  }
  return recordedState(jobDir) === 'done' ? 0 : 1;
}

async function runClaimed(jobDir: string, engineId: string, term: Term): Promise<void> {
  const pulse = setInterval(() => beatQuietly(jobDir, engineId), HEARTBEAT_MS);
  beatQuietly(jobDir, engineId);
  await platform.prepareToSupervise();
  let supervised: Awaited<ReturnType<typeof launch>>;
  try {
    const spec = shaped(supervisorSpec, JSON.parse(takeLaunchSpec(jobDir)));
    if (spec?.mode !== 'start') throw new Error('the spec is none of a start');
    requireFolder(spec.cwd);
    const own = Object.entries(process.env).map(([name, value = '']): [string, string] => [name, value]);
    const env = workerEnvironment(spec.env, own);
    // The directory may have another name here.
    supervised = await launch({ ...spec, jobDir, env }, (there) => ({
      engine: 'slurm',
      engine_id: engineId,
      host: node,
      there,
    }));
  } catch (error) {
    const reason = `could not launch worker: ${messageOf(error)}`;
    await finish(
      jobDir,
      { state: 'failed', reason },
      { ending: undefined, wallSecs: 0, classifiedBy: 'supervisor' },
    );
    return;
  }
  if (supervised) {
    const reaping = setInterval(() => {
      // A record that somebody else has written is final: what it tells of must not run on.
      if (isAskedToReap(jobDir) || isTerminal(recordedState(jobDir))) term.raise();
    }, REAP_LOOK_MS);
    const watched = supervise({
      ...supervised,
      worker: afterTerm(supervised.worker, term),
      explain: (verdict) => explain(jobDir, verdict),
    });
    term.handOver();
    await watched;
    clearInterval(reaping);
  }
  clearInterval(pulse);
}

/** A folder that is not there would be taken for a program that is not (spawn(3) says ENOENT for both). */
function requireFolder(cwd: string): void {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`there is no folder ${cwd} on ${node}; is it shared with the nodes?`);
}

/** A beat that fails is made up for by the next one. */
function beatQuietly(jobDir: string, engineId: string): void {
  try {
    beat(jobDir, `${engineId} on ${node}\n`);
  } catch {
    // A full disk, a server that is gone for a while: Slurm still knows that the job runs.
  }
}

/** TERM from the first moment on: one that comes before anybody watches for it is not lost, nor deadly. */
class Term {
  #came = false;
  readonly #news: (() => void)[] = [];

  constructor() {
    process.on('SIGTERM', () => {
      this.#came = true;
      for (const tell of this.#news.splice(0)) tell();
    });
  }

  /** Once somebody else listens too. */
  handOver(): void {
    if (this.#came) this.raise();
  }

  raise(): void {
    process.kill(process.pid, 'SIGTERM');
  }

  async within(ms: number): Promise<void> {
    if (!this.#came)
      await Promise.race([sleep(ms), new Promise<void>((resolve) => this.#news.push(resolve))]);
  }
}

function afterTerm(worker: RunningWorker, term: Term): RunningWorker {
  const told = async (ending: Ending): Promise<Ending> => {
    if (ending.kind !== 'exited' || ending.code !== 0) await term.within(TERM_NEWS_MS);
    return ending;
  };
  return { ...worker, ended: worker.ended.then(told) };
}

/** A reap that nobody of ours asked for was Slurm's own doing. */
function explain(jobDir: string, verdict: Verdict): Verdict {
  return verdict === REAPED && !isAskedToReap(jobDir) ? whyTerminated(engineOutput(jobDir)) : verdict;
}

/**
 * A job that Slurm started again, or twice, runs once all the same: this copy only sees to it that the end of the first
 * is recorded, if that has left none.
 */
async function standBy(jobDir: string): Promise<void> {
  for (;;) {
    if (isTerminal(recordedState(jobDir)) || readClaim(jobDir)?.by === 'caller') return;
    const ageMs = heartbeatAgeMs(jobDir, { exact: true });
    if (ageMs === undefined || ageMs > HEARTBEAT_STALE_MS) break;
    await sleep(RIVAL_POLL_MS);
  }
  const { settleLost } = await import('./slurm-settle.ts');
  await settleLost(jobDir, {
    state: 'died-without-result',
    reason: 'Slurm started it again after its supervisor was lost; a job runs only once',
  });
}
