import * as z from 'zod/mini';
import { MAX_TIMER_SECS } from '../limits.ts';
import { TERMINAL_STATES } from './state.ts';

/** Records are read loosely: the reference writes fewer fields, a later version may write more. */
const text = z.nullish(z.string());
const count = z.nullish(z.number());

/** The reference records windows that no timer bears (one would fire at once, again and again): cut to what one does. */
const seconds = z.pipe(
  z.number(),
  z.transform((secs) => Math.min(secs, MAX_TIMER_SECS)),
);

const supervision = z.object({
  idle: z.nullable(seconds),
  hard: seconds,
  log_max: z.number(),
  result_max: z.number(),
  poll: seconds,
  grace: seconds,
});

/** What tells whether a result file is the one that lay there before the job began. */
export const resultBaseline = z.object({
  dev: z.string(),
  ino: z.string(),
  size: z.string(),
  mtime_ns: z.string(),
});
export type ResultBaseline = z.infer<typeof resultBaseline>;

/** `meta.json`: who asked for what. Written once, before anything is detached. */
export const metaRecord = z.looseObject({
  job_id: text,
  skill: text,
  run_id: text,
  label: text,
  input_digest: text,
  started_at: text,
  worker_argv: z.nullish(z.array(z.string())),
  result_path: text,
  result_format: text,
  result_baseline: z.nullish(resultBaseline),
  supervision: z.nullish(supervision),
  cwd: text,
  key: text,
  client: text,
  /** Why nothing was detached, where that was certain when the record was written. */
  preflight: text,
});
export type MetaRecord = z.infer<typeof metaRecord>;

const processId = z.nullish(z.int().check(z.positive()));

/** `pid`: who supervises and who works. Pids are only used with their identity. */
export const pidRecord = z.looseObject({
  supervisor_pid: processId,
  worker_pid: processId,
  supervisor_pgid: processId,
  supervisor_identity: text,
  worker_identity: text,
  job_name: text,
  /** Whose host it is: with an engine, the numbers are in `there`, where nobody takes them for this machine's. */
  engine: text,
  host: text,
  /** The monotonic clock when the worker started, in ms, with the boot that it counts in. */
  started_monotonic_ms: count,
  boot: text,
});
export type PidRecord = z.infer<typeof pidRecord>;

/** `.lease-N`: who took over a job whose supervisor was gone. */
export const leaseRecord = z.looseObject({ pid: z.int().check(z.positive()), identity: z.string() });

/** `outcome.json`: everything that is known of the end. */
export const outcomeRecord = z.looseObject({
  schema_version: z.optional(z.number()),
  state: z.enum(TERMINAL_STATES),
  reason: z.string(),
  exit_code: z.nullish(z.number()),
  signal: text,
  started_at: text,
  ended_at: text,
  wall_secs: count,
  log_bytes: count,
  result_bytes: count,
  result_sha256: text,
  classified_by: text,
  /** Long stretches without output: seconds after the start, from and to. */
  silences: z.nullish(z.array(z.tuple([z.number(), z.number()]))),
});
export type OutcomeRecord = z.infer<typeof outcomeRecord>;

/** `engine.json`: to which engine a job was given. Without an id the submission is not known to have arrived. */
export const engineRecord = z.looseObject({
  engine: z.string(),
  engine_id: text,
  cluster: text,
  claimed_at: text,
  submitted_at: text,
  kill_wait_secs: count,
  proctrack: text,
  submitter: z.nullish(z.looseObject({ host: text, pid: processId, identity: text })),
});
export type EngineRecord = z.infer<typeof engineRecord>;

/**
 * `engine-claim`: who may run a submitted job, once and for all. A supervisor runs it; a caller that was first settles it,
 * as `verdict` says, and it will never run.
 */
export const engineClaim = z.looseObject({
  by: z.enum(['supervisor', 'caller']),
  host: text,
  engine_id: text,
  verdict: z.nullish(z.looseObject({ state: z.enum(TERMINAL_STATES), reason: z.string() })),
});
export type EngineClaim = z.infer<typeof engineClaim>;
