import { MAX_TIMER_SECS } from '../limits.ts';
import {
  atMost,
  listOf,
  nullable,
  number,
  oneOf,
  optional,
  processId,
  record,
  type Shaped,
  span,
  text,
} from './shape.ts';
import { TERMINAL_STATES } from './state.ts';

/** Records are read loosely: the reference writes fewer fields, a later version may write more. */
const someText = optional(text);
const count = optional(number);

/** The reference records windows that no timer bears (one would fire at once, again and again): cut to what one does. */
const seconds = atMost(MAX_TIMER_SECS);

const supervision = record({
  idle: nullable(seconds),
  hard: seconds,
  log_max: number,
  result_max: number,
  poll: seconds,
  grace: seconds,
});

/** What tells whether a result file is the one that lay there before the job began. */
export const resultBaseline = record({
  dev: text,
  ino: text,
  size: text,
  mtime_ns: text,
});
export type ResultBaseline = Shaped<typeof resultBaseline>;

/** `meta.json`: who asked for what. Written once, before anything is detached. */
export const metaRecord = record({
  job_id: someText,
  skill: someText,
  run_id: someText,
  label: someText,
  input_digest: someText,
  started_at: someText,
  worker_argv: optional(listOf(text)),
  result_path: someText,
  result_format: someText,
  result_baseline: optional(resultBaseline),
  supervision: optional(supervision),
  cwd: someText,
  key: someText,
  client: someText,
  /** Why nothing was detached, where that was certain when the record was written. */
  preflight: someText,
});
export type MetaRecord = Shaped<typeof metaRecord>;

const someProcess = optional(processId);

/** `pid`: who supervises and who works. Pids are only used with their identity. */
export const pidRecord = record({
  supervisor_pid: someProcess,
  worker_pid: someProcess,
  supervisor_pgid: someProcess,
  supervisor_identity: someText,
  worker_identity: someText,
  job_name: someText,
  /** Whose host it is: with an engine, the numbers are in `there`, where nobody takes them for this machine's. */
  engine: someText,
  host: someText,
  /** The monotonic clock when the worker started, in ms, with the boot that it counts in. */
  started_monotonic_ms: count,
  boot: someText,
});
export type PidRecord = Shaped<typeof pidRecord>;

/** `.lease-N`: who took over a job whose supervisor was gone. */
export const leaseRecord = record({ pid: processId, identity: text });

/** `outcome.json`: everything that is known of the end. */
export const outcomeRecord = record({
  schema_version: count,
  state: oneOf(...TERMINAL_STATES),
  reason: text,
  exit_code: count,
  signal: someText,
  started_at: someText,
  ended_at: someText,
  wall_secs: count,
  log_bytes: count,
  result_bytes: count,
  result_sha256: someText,
  classified_by: someText,
  /** Long stretches without output: seconds after the start, from and to. */
  silences: optional(listOf(span)),
});
export type OutcomeRecord = Shaped<typeof outcomeRecord>;

/** `engine.json`: to which engine a job was given. Without an id the submission is not known to have arrived. */
export const engineRecord = record({
  engine: text,
  engine_id: someText,
  cluster: someText,
  claimed_at: someText,
  submitted_at: someText,
  kill_wait_secs: count,
  proctrack: someText,
  submitter: optional(record({ host: someText, pid: someProcess, identity: someText })),
});
export type EngineRecord = Shaped<typeof engineRecord>;

/**
 * `engine-claim`: who may run a submitted job, once and for all. A supervisor runs it; a caller that was first settles it,
 * as `verdict` says, and it will never run.
 */
export const engineClaim = record({
  by: oneOf('supervisor', 'caller'),
  host: someText,
  engine_id: someText,
  verdict: optional(record({ state: oneOf(...TERMINAL_STATES), reason: text })),
});
export type EngineClaim = Shaped<typeof engineClaim>;
