/** What Slurm's words for a job mean for us. Pure. */
import type { Verdict } from '../job/state.ts';

/** What was heard of a job. `cannot-tell` is alive. */
export type Heard =
  | { readonly kind: 'known'; readonly state: string; readonly reason: string }
  /** Slurm knows no such job (any more); `accounting` is what it still had there. */
  | { readonly kind: 'unknown'; readonly accounting: string | undefined }
  | { readonly kind: 'cannot-tell'; readonly why: string };

/** https://slurm.schedmd.com/squeue.html#SECTION_JOB-STATE-CODES: all in which a job waits, runs or is being ended. */
const ACTIVE = new Set([
  'PENDING',
  'CONFIGURING',
  'RUNNING',
  'COMPLETING',
  'STAGE_OUT',
  'SIGNALING',
  'STOPPED',
  'SUSPENDED',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESIZING',
  'RESV_DEL_HOLD',
  'SPECIAL_EXIT',
  'REVOKED',
]);

/** Waiting to run, or not to. Of a job that has run: it was queued again, and whoever ran it is gone. */
const WAITS = new Set(['PENDING', 'REQUEUED', 'REQUEUE_FED', 'REQUEUE_HOLD', 'SPECIAL_EXIT']);

/** Said only when the node itself has reported that the batch script, which is our supervisor, has ended. */
const SEEN_TO_END = new Set(['COMPLETED', 'FAILED', 'OUT_OF_MEMORY']);

/** Its supervisor is the batch script: it ended without having taken the job. */
const UNBEGUN: Readonly<Record<string, string>> = {
  COMPLETED: 'its supervisor did not start',
  FAILED: 'its supervisor could not be started',
};

const MEANINGS: Readonly<Record<string, string>> = {
  BOOT_FAIL: 'its node did not boot',
  CANCELLED: 'it was cancelled in Slurm',
  COMPLETED: 'its supervisor ended without a record',
  DEADLINE: 'its deadline in Slurm passed',
  FAILED: 'its supervisor was killed',
  NODE_FAIL: 'its node was lost',
  OUT_OF_MEMORY: 'it ran out of memory',
  PREEMPTED: 'it had to make room for another job',
  TIMEOUT: 'its time limit passed',
};

export function isActive(state: string): boolean {
  return ACTIVE.has(state);
}

/** Whether a job that has begun waits for a second run, which it will not have. */
export function isQueuedAgain(heard: Heard): heard is Extract<Heard, { kind: 'known' }> {
  return heard.kind === 'known' && WAITS.has(heard.state);
}

/** Whether the supervisor cannot be alive any more, whenever its last heartbeat was. */
export function isSeenToEnd(heard: Heard): boolean {
  return heard.kind === 'known' && SEEN_TO_END.has(heard.state);
}

/** The verdict on a job that has no record of its end, by what Slurm says of it. `begun`: its supervisor once ran. */
export function verdictOn(heard: Exclude<Heard, { kind: 'cannot-tell' }>, begun: boolean): Verdict {
  const when = begun ? '' : ' before it began';
  // Accounting says by whom: "CANCELLED by 1000".
  const words = heard.kind === 'known' ? heard.state : (heard.accounting ?? '');
  const [state = ''] = words.split(' ');
  if (state === '') {
    return {
      state: 'died-without-result',
      reason: `Slurm does not know the job any more, and it ended${when} without a record`,
    };
  }
  const why = heard.kind === 'known' && heard.reason !== '' ? ` (${heard.reason})` : '';
  const meaning = WAITS.has(state)
    ? 'its supervisor was lost and Slurm has queued it again, but a job runs only once'
    : ((begun ? undefined : UNBEGUN[state]) ?? MEANINGS[state] ?? 'it ended');
  const reason = `${meaning}${when}; Slurm says ${words}${why}`;
  return { state: state === 'TIMEOUT' ? 'timeout' : 'died-without-result', reason };
}

/** Slurm's line in the output of a job that it ends: on which node, when, and why if nobody asked for it. */
const ENDED_LINE =
  /\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO ([A-Za-z][A-Za-z ,_-]*[A-Za-z]))?/g;

/** Why Slurm sent TERM, by what it printed into the job's output: it is there before the signal comes. */
export function whyTerminated(output: string): Verdict {
  const cause = [...output.matchAll(ENDED_LINE)].at(-1)?.[1]?.toLowerCase();
  switch (cause) {
    case undefined:
      return { state: 'timeout', reason: 'cancelled in Slurm before completion' };
    case 'time limit':
      return { state: 'timeout', reason: 'the time limit of the Slurm job passed' };
    default:
      return { state: 'timeout', reason: `ended by Slurm before completion, due to ${cause}` };
  }
}

/** How long after TERM a supervisor may let its worker go on, seconds: the rest is for ending it and for the record. */
export function graceWithin(killWaitSecs: number | null): number {
  if (killWaitSecs === null) return Number.POSITIVE_INFINITY;
  return Math.max(0.1, killWaitSecs - Math.min(5, killWaitSecs / 2));
}

/** What Slurm sets for a job: where it is, and what of its node is its own. */
const OF_THE_JOB =
  /^SLURMD?_|^(CUDA_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES|ZE_AFFINITY_MASK|ONEAPI_DEVICE_SELECTOR)$/;

type Variables = readonly (readonly [string, string])[];

/** The worker's environment: its caller's, without what an outer Slurm job had set, with what Slurm sets for this one. */
export function workerEnvironment(callers: Variables, nodes: Variables): [string, string][] {
  const kept = callers.filter(([name]) => !OF_THE_JOB.test(name) || name === 'SLURM_CONF');
  const set = nodes.filter(([name]) => OF_THE_JOB.test(name));
  return [...new Map([...kept, ...set])];
}
