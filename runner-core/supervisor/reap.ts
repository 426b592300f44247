import { setTimeout as sleep } from 'node:timers/promises';
import { REAPED } from '../job/classify.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { type JobProcesses, platform } from '../platform/index.ts';
import { isOwnJobDir, readMeta, recordedState } from '../store/job-dir.ts';
import { currentLease, type Lease, releaseLease, takeLease } from '../store/lease.ts';
import { processesOf } from '../store/processes.ts';
import { ownHolder } from './identity.ts';
import { recordEnd, supervisorOf } from './settle.ts';
import { withSupervisor } from './whole-job.ts';

/** Beyond the grace, what a healthy supervisor may need to end a tree and write the record. */
const SUPERVISOR_MARGIN_MS = 5000;
const POLL_MS = 20;
/** Many supervisors that are asked at once share the processors, also with whoever looks whether they are done. */
const MARGIN_MS_PER_JOB = 100;
const POLL_MS_PER_JOB = 1;

/**
 * Ends a job now, whatever state it is in, and gives the state that follows. The supervisor is asked first; where it is
 * gone, stopped or does not answer, the caller ends the tree and writes the record itself. Settled jobs stay as they are.
 * `graceMs` is used where the job records none; `among` is how many jobs are being ended at the same time.
 */
export async function reapJob(jobDir: string, graceMs: number, among: number): Promise<JobState> {
  const state = recordedState(jobDir);
  if (isTerminal(state) || !isOwnJobDir(jobDir)) return state;
  const job = await withSupervisor(processesOf(jobDir));
  // A `pid` record that somebody removed does not make anybody unreachable.
  if (state === 'never-started' && !job.supervisor && (await platform.treeLives(job)) !== 'yes') return state;
  const before = currentLease(jobDir);
  const supervisor = await supervisorOf(job, before);
  // Out of sight in another pid namespace: what cannot be reached must not be declared dead.
  if (supervisor.state === 'unknown') return 'running';
  const lives = supervisor.state === 'alive' || (await platform.treeLives(job)) !== 'no';
  // Nothing to end, and no way to tell how it ended.
  if (state === 'unreadable' && !lives) return state;
  const works = await worksStill(job);
  const asked = supervisor.state === 'alive' && !supervisor.stopped && (await platform.requestReap(job));
  if (asked) {
    const grace = (readMeta(jobDir)?.supervision?.grace ?? graceMs / 1000) * 1000;
    const settled = await awaitRecord(jobDir, grace, among);
    if (settled) return settled;
  }
  return takeOver(jobDir, asked && works);
}

/** The terminal state, once it is recorded; undefined where it is not in time. */
async function awaitRecord(jobDir: string, graceMs: number, among: number): Promise<JobState | undefined> {
  const until = performance.now() + graceMs + SUPERVISOR_MARGIN_MS + among * MARGIN_MS_PER_JOB;
  const pollMs = Math.max(POLL_MS, among * POLL_MS_PER_JOB);
  for (; performance.now() < until; await sleep(pollMs)) {
    const state = recordedState(jobDir);
    if (isTerminal(state)) return state;
  }
  return undefined;
}

/** Whether there is anybody to end. A worker that is not on record is known by what it left: its tree. */
async function worksStill(job: JobProcesses): Promise<boolean> {
  const { worker, circumstances } = job;
  if (!worker) return (await platform.treeLives(job)) === 'yes';
  return (await platform.whereabouts(worker.pid, worker.identity, circumstances)).state === 'alive';
}

/**
 * `heard`: a supervisor was asked while the worker lived, and is only slow. Whatever has become of the worker since then is
 * what was asked for.
 */
async function takeOver(jobDir: string, heard: boolean): Promise<JobState> {
  const job = await withSupervisor(processesOf(jobDir));
  const lease = await leaseIfAny(jobDir);
  const works = await worksStill(job);
  try {
    return await recordEnd(jobDir, (evident) => {
      if (heard) return REAPED;
      if (evident.state === 'done') {
        return { state: 'done', reason: 'worker published its result before reap (supervisor was gone)' };
      }
      if (!works || evident.state === 'failed') return evident;
      return {
        state: 'timeout',
        reason: 'reaped by request; supervisor was gone, worker tree killed by reap',
      };
    });
  } finally {
    if (lease) releaseLease(jobDir, lease);
    // A supervisor that was only stopped finds the record, and ends.
    if (job.supervisor) {
      const at = await platform.whereabouts(job.supervisor.pid, job.supervisor.identity, job.circumstances);
      if (at.state === 'alive' && at.stopped) platform.resume(at.pid);
    }
  }
}

/** The kill and the record are safe without the lease too; a full disk must not keep a worker alive. */
async function leaseIfAny(jobDir: string): Promise<Lease | undefined> {
  try {
    return takeLease(jobDir, currentLease(jobDir), await ownHolder());
  } catch {
    return undefined;
  }
}
