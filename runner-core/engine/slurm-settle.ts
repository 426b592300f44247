import { hostname } from 'node:os';
import { classify } from '../job/classify.ts';
import type { EngineClaim, EngineRecord } from '../job/records.ts';
import { isTerminal, type JobState, type Verdict } from '../job/state.ts';
import { supervisionFor } from '../job/windows.ts';
import {
  HEARTBEAT_DOUBT_MS,
  HEARTBEAT_STALE_MS,
  SUBMISSION_ABROAD_MS,
  SUBMISSION_ORPHAN_MS,
} from '../limits.ts';
import { platform } from '../platform/index.ts';
import {
  engineOutput,
  heartbeatAgeMs,
  readClaim,
  readEngine,
  refresh,
  submittingAgeMs,
  takeClaim,
} from '../store/engine-files.ts';
import { fileOf, jobIdOf, readMeta, readOutcome, recordedState } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { inspectResult } from '../store/result-file.ts';
import { finish } from '../supervisor/finish.ts';
import { ask, askConfig } from './slurm-ask.ts';
import { type Heard, isActive, isQueuedAgain, isSeenToEnd, verdictOn } from './slurm-states.ts';
import { findSubmission } from './slurm-submit.ts';
import { hear } from './standing.ts';

type Ended = Exclude<Heard, { kind: 'cannot-tell' }>;

/** How a job without a record of its end stands. `lost`: whoever supervised it is gone; `unrun`: it will never begin. */
export type Found =
  | { readonly kind: 'alive' }
  | { readonly kind: 'lost'; readonly heard: Ended }
  | { readonly kind: 'unrun'; readonly verdict: Verdict };

/**
 * The true state of a submitted job. Our own record wins, then the heartbeat, then what Slurm says; and before anything is
 * settled, our record is looked at once more.
 */
export async function settle(jobDir: string): Promise<JobState> {
  refresh(jobDir);
  const before = recordedState(jobDir);
  if (before !== 'running') return before;
  const found = await look(jobDir);
  refresh(jobDir);
  const now = recordedState(jobDir);
  if (now !== 'running') return now;
  return settleAs(jobDir, found, asIs);
}

const asIs = (verdict: Verdict): Verdict => verdict;

/** Carries out what was found; `judge` may change the verdict on a job whose supervisor is gone. */
export async function settleAs(
  jobDir: string,
  found: Found,
  judge: (verdict: Verdict) => Verdict,
): Promise<JobState> {
  switch (found.kind) {
    case 'alive':
      return 'running';
    case 'unrun':
      return (await settleUnrun(jobDir, found.verdict)) ?? 'running';
    case 'lost':
      return record(jobDir, judge(evident(jobDir, named(jobDir, verdictOn(found.heard, true)))));
  }
}

/** What there is of a job that has no record of its end. */
export async function look(jobDir: string): Promise<Found> {
  // All that is looked at for a job that runs as it should.
  if (beatWithin(jobDir, HEARTBEAT_DOUBT_MS)) {
    hear(jobDir, { state: 'RUNNING', detail: null });
    return { kind: 'alive' };
  }
  const engine = readEngine(jobDir);
  const claim = readClaim(jobDir);
  if (claim?.by === 'caller') return { kind: 'unrun', verdict: claim.verdict ?? NEVER_BEGAN };
  return claim ? lookAtBegun(jobDir, engine, claim) : lookAtQueued(jobDir, engine);
}

const NEVER_BEGAN: Verdict = { state: 'failed', reason: 'it was settled before it began' };

async function lookAtBegun(
  jobDir: string,
  engine: EngineRecord | undefined,
  claim: EngineClaim,
): Promise<Found> {
  const id = claim.engine_id ?? engine?.engine_id;
  const heard: Heard = id ? await askOf(jobDir, id, engine) : { kind: 'unknown', accounting: undefined };
  if (!isQueuedAgain(heard) && isAlive(jobDir, heard, 'no heartbeat from its supervisor'))
    return { kind: 'alive' };
  // The clocks of two hosts may differ; that of the file server is one.
  if (!isSeenToEnd(heard) && beatWithin(jobDir, HEARTBEAT_STALE_MS, { exact: true }))
    return { kind: 'alive' };
  return { kind: 'lost', heard };
}

function beatWithin(jobDir: string, withinMs: number, clock = { exact: false }): boolean {
  const ageMs = heartbeatAgeMs(jobDir, clock);
  return ageMs !== undefined && Math.abs(ageMs) < withinMs;
}

async function lookAtQueued(jobDir: string, engine: EngineRecord | undefined): Promise<Found> {
  const id = engine?.engine_id ?? (await findAgain(jobDir, engine));
  if (typeof id !== 'string') return id;
  const heard = await askOf(jobDir, id, engine);
  if (isAlive(jobDir, heard, null)) return { kind: 'alive' };
  if (heard.kind === 'unknown') {
    // The number that sbatch gave may not be Slurm's.
    const found = await findSubmission(jobDir, engine);
    if (found && 'why' in found) return { kind: 'alive' };
    if (engine && found && found.id !== id) return lookAtQueued(jobDir, { ...engine, engine_id: found.id });
  }
  const verdict = verdictOn(heard, false);
  const said = lastLine(engineOutput(jobDir));
  return {
    kind: 'unrun',
    verdict: said === '' ? verdict : { ...verdict, reason: `${verdict.reason} (${said})` },
  };
}

/** The number of a submission that nobody knows to have arrived, or what that makes of the job. */
async function findAgain(jobDir: string, engine: EngineRecord | undefined): Promise<string | Found> {
  const abroad = await isAbroad(jobDir, engine);
  const found = await findSubmission(jobDir, engine);
  if (found && 'id' in found) return found.id;
  const detail = found ? `not known whether Slurm took it: ${found.why}` : 'on its way to Slurm';
  hear(jobDir, { state: null, detail });
  if (found || abroad) return { kind: 'alive' };
  return {
    kind: 'unrun',
    verdict: {
      state: 'failed',
      reason: 'the submission never reached Slurm: whoever started it was interrupted',
    },
  };
}

/** Whether a submission may still arrive. */
async function isAbroad(jobDir: string, engine: EngineRecord | undefined): Promise<boolean> {
  const ageMs = submittingAgeMs(jobDir) ?? Number.POSITIVE_INFINITY;
  const submitter = engine?.submitter;
  if (submitter?.pid && submitter.host === hostname()) {
    const at = await platform.whereabouts(submitter.pid, submitter.identity ?? undefined);
    if (at.state === 'gone') return ageMs < SUBMISSION_ORPHAN_MS;
  }
  return ageMs < SUBMISSION_ABROAD_MS;
}

/** What Slurm says of a job. Of one that it does not know, only the Slurm that it was given to can say that. */
async function askOf(jobDir: string, id: string, engine: EngineRecord | undefined): Promise<Heard> {
  const heard = await ask(id, jobIdOf(jobDir));
  if (heard.kind !== 'unknown' || heard.accounting !== undefined || !engine?.cluster) return heard;
  const config = await askConfig();
  if ('why' in config) return { kind: 'cannot-tell', why: config.why };
  if (config.cluster === engine.cluster) return heard;
  return {
    kind: 'cannot-tell',
    why: `this is cluster ${config.cluster}, and it was given to ${engine.cluster}`,
  };
}

/** Whether that is no end; what was heard is kept for whoever describes the job. */
function isAlive(
  jobDir: string,
  heard: Heard,
  detail: string | null,
): heard is Exclude<Heard, { kind: 'unknown' }> {
  if (heard.kind === 'cannot-tell') {
    hear(jobDir, { state: null, detail: `Slurm cannot be asked: ${heard.why}` });
    return true;
  }
  if (heard.kind === 'unknown' || !isActive(heard.state)) return false;
  hear(jobDir, { state: heard.state, detail: detail ?? (heard.reason || null) });
  return true;
}

/** Takes the claim of a job that has not begun, so that it never will, and settles it. Undefined where it has begun. */
export async function settleUnrun(jobDir: string, verdict: Verdict): Promise<JobState | undefined> {
  let taken: boolean;
  try {
    taken = takeClaim(jobDir, { by: 'caller', host: hostname(), verdict: { ...verdict } });
  } catch {
    // A full or read-only disk: nothing can be promised, so nothing is said.
    return undefined;
  }
  const claim = readClaim(jobDir);
  if (!taken && claim?.by !== 'caller') return undefined;
  return record(jobDir, (taken ? undefined : claim?.verdict) ?? verdict);
}

/** What the cluster may not have ended with the supervisor: only control groups hold all of a job (cgroup.conf(5)). */
function named(jobDir: string, verdict: Verdict): Verdict {
  const proctrack = readEngine(jobDir)?.proctrack;
  if (!proctrack || proctrack.includes('cgroup')) return verdict;
  const node = readClaim(jobDir)?.host ?? 'its node';
  return { ...verdict, reason: `${verdict.reason}; ${proctrack} may have left processes of it on ${node}` };
}

/** Records the end of a job whose supervisor is gone, for whoever knows that without asking. */
export function settleLost(jobDir: string, explained: Verdict): Promise<JobState> {
  return record(jobDir, evident(jobDir, explained));
}

/** The verdict by what lies in the directory, with Slurm's explanation where that is nothing. */
function evident(jobDir: string, explained: Verdict): Verdict {
  // A supervisor that died between the last two steps has already classified.
  const classified = readOutcome(jobDir);
  if (classified) return { state: classified.state, reason: classified.reason };
  const meta = readMeta(jobDir);
  const supervision = meta?.supervision ?? supervisionFor({}, meta?.skill ?? '');
  const caps = { logMaxBytes: supervision.log_max, resultMaxBytes: supervision.result_max };
  const logBytes = lstatIfAny(fileOf(jobDir, 'log'))?.size ?? 0;
  const verdict = classify({ kind: 'lost' }, inspectResult(meta, caps.resultMaxBytes), logBytes, caps, false);
  return verdict.state === 'died-without-result' ? explained : verdict;
}

async function record(jobDir: string, verdict: Verdict): Promise<JobState> {
  try {
    await finish(jobDir, verdict, { ending: { kind: 'lost' }, wallSecs: undefined, classifiedBy: 'caller' });
  } catch {
    // A full or read-only disk: the next question tries again, and this one is answered all the same.
    const recorded = recordedState(jobDir);
    return isTerminal(recorded) ? recorded : verdict.state;
  }
  return recordedState(jobDir);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
