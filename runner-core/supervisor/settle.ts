import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../errors.ts';
import { classify } from '../job/classify.ts';
import { isTerminal, type JobState, type Verdict } from '../job/state.ts';
import { supervisionFor } from '../job/windows.ts';
import { LEFTOVER_GRACE_MS } from '../limits.ts';
import { type JobProcesses, platform, type Whereabouts } from '../platform/index.ts';
import { fileOf, readMeta, readOutcome, readPid, recordedState, startedAtMs } from '../store/job-dir.ts';
import { currentLease, type Lease, releaseLease, takeLease } from '../store/lease.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { processesOf } from '../store/processes.ts';
import { inspectResult } from '../store/result-file.ts';
import { beginDetaching, detach } from './detach.ts';
import { finish } from './finish.ts';
import { ownHolder } from './identity.ts';
import { jobWithWorker } from './whole-job.ts';

/** How long the loser of a race to settle waits for the winner's word. */
const WINNER_BUDGET_MS = 5000;
const WINNER_POLL_MS = 20;
/** A supervisor that cannot be seen must have recorded the end by this long after the hard window and the grace. */
const UNSEEN_MARGIN_MS = 60_000;

/**
 * The true state of a job: what its directory tells, put right first where its supervisor is gone. A worker that lives
 * on gets a new supervisor, run from `entry`; otherwise the terminal record is written from the evidence. Of any number
 * of callers exactly one does it. Cannot tell counts as alive.
 */
export async function settle(jobDir: string, entry: string): Promise<JobState> {
  const state = recordedState(jobDir);
  if (state !== 'running') return state;
  // The lease is read before anybody is looked at: whoever acts in between makes the next number fail.
  const before = currentLease(jobDir);
  if ((await supervisorOf(processesOf(jobDir), before)).state !== 'gone') {
    return isSupervisor(jobDir, before) ? 'running' : awaitWinner(jobDir);
  }
  let lease: Lease | undefined;
  try {
    lease = takeLease(jobDir, before, await ownHolder());
  } catch (error) {
    // A full or read-only disk keeps no lease, but the question has an answer. The record is safe without one.
    if (errnoOf(error) === undefined) throw error;
    return (await workerOf(await jobWithWorker(jobDir)))?.state === 'alive'
      ? 'running'
      : recordEnd(jobDir, asIs);
  }
  if (!lease) return awaitWinner(jobDir);
  try {
    return await putRight(jobDir, entry, lease);
  } finally {
    releaseLease(jobDir, lease);
  }
}

async function workerOf({ worker, circumstances }: JobProcesses): Promise<Whereabouts | undefined> {
  return worker && platform.whereabouts(worker.pid, worker.identity, circumstances);
}

/**
 * Where the process is that acts for a job: the holder of its lease, else its recorded supervisor. `gone` also for one
 * that cannot be seen from here but would long have recorded the end.
 */
export async function supervisorOf(job: JobProcesses, lease: Lease): Promise<Whereabouts> {
  const supervisor = lease.holder ?? job.supervisor ?? (await platform.findSupervisor(job.logPath));
  if (!supervisor) return { state: 'gone' };
  const at = await platform.whereabouts(supervisor.pid, supervisor.identity, job.circumstances);
  return at.state === 'unknown' && isOverdue(job.jobDir) ? { state: 'gone' } : at;
}

/** Whether anybody works for or in a job without a terminal record. Cannot tell counts as yes. */
export async function isLive(jobDir: string): Promise<boolean> {
  const job = processesOf(jobDir);
  if ((await supervisorOf(job, currentLease(jobDir))).state !== 'gone') return true;
  return (await platform.treeLives(job)) !== 'no';
}

/** Whether the lease belongs to a supervisor, who stays, and not to a caller that is just settling the job. */
function isSupervisor(jobDir: string, lease: Lease): boolean {
  return lease.holder === undefined || readPid(jobDir)?.supervisor_identity === lease.holder.identity;
}

function isOverdue(jobDir: string): boolean {
  const meta = readMeta(jobDir);
  const started = startedAtMs(jobDir, meta);
  const supervision = meta?.supervision;
  if (started === undefined || !supervision) return false;
  return Date.now() > started + (supervision.hard + supervision.grace) * 1000 + UNSEEN_MARGIN_MS;
}

async function putRight(jobDir: string, entry: string, lease: Lease): Promise<JobState> {
  const recorded = recordedState(jobDir);
  if (recorded !== 'running') return recorded;
  // Read anew: an adopter may have come and gone before the lease was ours.
  if ((await workerOf(await jobWithWorker(jobDir)))?.state === 'alive') {
    await detach(beginDetaching(entry), entry, { mode: 'adopt', jobDir, lease: lease.number }).catch(() => {
      // No new supervisor to be had now (disk, memory). The worker runs all the same, and the next question tries again.
    });
    return 'running';
  }
  return recordEnd(jobDir, asIs);
}

const asIs = (verdict: Verdict): Verdict => verdict;

/**
 * Ends whatever is left of the tree and writes the terminal record of a job that nobody supervises, from the evidence;
 * `judge` may change the verdict. The answer is true even where the disk refuses the record.
 */
export async function recordEnd(jobDir: string, judge: (verdict: Verdict) => Verdict): Promise<JobState> {
  const meta = readMeta(jobDir);
  const supervision = meta?.supervision ?? supervisionFor({}, meta?.skill ?? '');
  const leftovers = await platform.tearDown({
    processes: processesOf(jobDir),
    graceMs: Math.min(supervision.grace * 1000, LEFTOVER_GRACE_MS),
    own: false,
  });
  const caps = { logMaxBytes: supervision.log_max, resultMaxBytes: supervision.result_max };
  const logBytes = lstatIfAny(fileOf(jobDir, 'log'))?.size ?? 0;
  const evident = classify({ kind: 'lost' }, inspectResult(meta, caps.resultMaxBytes), logBytes, caps, false);
  // A supervisor that died between the last two steps has already classified.
  const classified = readOutcome(jobDir);
  const verdict = classified ? { state: classified.state, reason: classified.reason } : judge(evident);
  const named =
    leftovers.length === 0
      ? verdict
      : { ...verdict, reason: `${verdict.reason}; could not end process ${leftovers.join(', ')}` };
  try {
    await finish(jobDir, named, { ending: { kind: 'lost' }, wallSecs: undefined, classifiedBy: 'caller' });
  } catch {
    // A full or read-only disk: the next question tries again, and this one is answered all the same.
    const recorded = recordedState(jobDir);
    return isTerminal(recorded) ? recorded : named.state;
  }
  return recordedState(jobDir);
}

/** Ends what a start began whose supervisor never acknowledged, and records it if anything was detached at all. */
export async function endUnacknowledged(jobDir: string): Promise<void> {
  if (recordedState(jobDir) !== 'running') return;
  await recordEnd(jobDir, () => ({
    state: 'failed',
    reason: 'the supervisor did not acknowledge the start',
  }));
}

async function awaitWinner(jobDir: string): Promise<JobState> {
  const until = performance.now() + WINNER_BUDGET_MS;
  for (;;) {
    const state = recordedState(jobDir);
    if (state !== 'running' || performance.now() > until) return state;
    const lease = currentLease(jobDir);
    if (lease.holder && isSupervisor(jobDir, lease)) return state;
    await sleep(WINNER_POLL_MS);
  }
}
