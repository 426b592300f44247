/**
 * Every default, minimum, maximum and environment name, once. Seconds and bytes as the contract writes them.
 */

/** A positive number that callers may set through the environment or per job. */
export interface Limit {
  readonly env: string;
  /** Bytes are whole. */
  readonly unit: 'seconds' | 'bytes';
  readonly fallback: number;
  readonly max: number;
}

/** Node's timers fire at once beyond 2^31-1 ms (https://nodejs.org/api/timers.html), so no window may be longer. */
export const MAX_TIMER_SECS = 2_147_483;

const MAX_BYTES = Number.MAX_SAFE_INTEGER;

export const IDLE_SECS: Limit = {
  env: 'CE_PEER_IDLE_SECS',
  unit: 'seconds',
  fallback: 240,
  max: MAX_TIMER_SECS,
};
/** The fallback is a floor: see `hardFallbackSecs` in job/windows.ts. */
export const HARD_SECS: Limit = {
  env: 'CE_PEER_HARD_SECS',
  unit: 'seconds',
  fallback: 1230,
  max: MAX_TIMER_SECS,
};
export const LOG_MAX_BYTES: Limit = {
  env: 'CE_PEER_LOG_MAX_BYTES',
  unit: 'bytes',
  fallback: 10 * 1024 * 1024,
  max: MAX_BYTES,
};
export const RESULT_MAX_BYTES: Limit = {
  env: 'CE_PEER_RESULT_MAX_BYTES',
  unit: 'bytes',
  fallback: 5 * 1024 * 1024,
  max: MAX_BYTES,
};
export const POLL_SECS: Limit = {
  env: 'CE_PEER_POLL_SECS',
  unit: 'seconds',
  fallback: 2,
  max: MAX_TIMER_SECS,
};
export const GRACE_SECS: Limit = {
  env: 'CE_PEER_GRACE_SECS',
  unit: 'seconds',
  fallback: 5,
  max: MAX_TIMER_SECS,
};

/** A caller's own worker cap: the hard window stays this much above it. */
export const WORKER_HARD_ENV = 'CROSS_MODEL_HARD_SECS';
export const WORKER_HARD_MARGIN_SECS = 30;

/** The one skill that may switch the idle window off. */
export const IDLE_OFF_SKILL = 'ce-work';

export const ROOT_ENV = 'CE_PEER_JOBS_ROOT';
export const WORK_RUNS_ROOT_ENV = 'CE_WORK_RUNS_ROOT';
/** Names the job to its worker; also the mark by which a worker's descendants are found. */
export const JOB_ID_ENV = 'CE_PEER_JOB_ID';
/** The node that runs supervisors, where the calling program is not one. */
export const NODE_PROGRAM_ENV = 'PEER_JOBS_NODE';
/** The engine that runs the jobs of starts that name none. */
export const ENGINE_ENV = 'PEER_JOBS_ENGINE';
/** Marks a supervisor, so that it is never taken for a descendant of the job that its caller ran in. */
export const SUPERVISOR_ENV = 'PEER_JOBS_SUPERVISOR';

/** A skill, run id or label is one file name. */
export const MAX_TOKEN_LENGTH = 255;

export const STATUS_READ_CAP = 256;
export const REASON_READ_CAP = 1024;
export const RECORD_READ_CAP = 64 * 1024;
/** Our meta.json may carry a long argv; one argument alone may be 128 KiB on Linux (execve(2), MAX_ARG_STRLEN). */
export const META_READ_CAP = 4 * 1024 * 1024;

/** How long `start` waits for a supervisor to say that it has its worker before it kills both. */
export const ACK_BUDGET_MS = 30_000;
/** A claimed id that collides is minted anew this often. */
export const CLAIM_ATTEMPTS = 16;

export const SWEEP_AGE_MS = 24 * 3600 * 1000;
/** What a start may spend on removing old runs. */
export const SWEEP_BUDGET_MS = 150;

export const WAIT_DEFAULT_SECS = 30;
/** After an aggregate deadline, the time that jobs just reaped get to record how they ended. */
export const REAP_SETTLE_SECS = 15;
/** Waiters look again this often where no event reaches them. */
export const WAIT_POLL_MS = 1000;
/** Leftovers of a worker that is already gone get at most this between TERM and KILL. */
export const LEFTOVER_GRACE_MS = 1000;

/** A supervisor on another host writes its heartbeat this often, */
export const HEARTBEAT_MS = 5000;
/** one that has missed a beat has its engine asked, which may have seen it end; */
export const HEARTBEAT_DOUBT_MS = 8000;
/** and without a beat for this long it counts as gone, if the engine says that the job has ended. */
export const HEARTBEAT_STALE_MS = 20_000;
/** It looks this often whether somebody wants the job reaped: the fallback where no signal reaches it. */
export const REAP_LOOK_MS = 1000;
/** How long a program of an engine may take. Slurm's own wait 9 to 18 s for a controller that is down. */
export const ENGINE_ASK_MS = 5000;
/** How long an engine may take to accept a job; after that it is looked for by its name. */
export const ENGINE_SUBMIT_MS = 20_000;
/** What an engine said is good for this long in one process: so often does a wait for a queued job ask. */
export const ENGINE_FRESH_MS = 10_000;
/** A submission whose sender cannot be seen may still be on its way for this long, */
export const SUBMISSION_ABROAD_MS = 60_000;
/** and that of one who is gone for this long: the program that he ran may have outlived him. */
export const SUBMISSION_ORPHAN_MS = 10_000;
