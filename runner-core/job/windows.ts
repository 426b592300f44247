import {
  GRACE_SECS,
  HARD_SECS,
  IDLE_OFF_SKILL,
  IDLE_SECS,
  type Limit,
  LOG_MAX_BYTES,
  POLL_SECS,
  RESULT_MAX_BYTES,
  WORKER_HARD_ENV,
  WORKER_HARD_MARGIN_SECS,
} from '../limits.ts';
import { decimalOf } from './decimal.ts';

/** The windows and caps of one job, as `meta.json` records them. Seconds and bytes; `idle` null is off. */
export interface Supervision {
  readonly idle: number | null;
  readonly hard: number;
  readonly log_max: number;
  readonly result_max: number;
  readonly poll: number;
  readonly grace: number;
}

/** What a caller may set for one job; each wins over the environment. Seconds and bytes. */
export interface SupervisionOverrides {
  readonly idle_secs?: number | undefined;
  readonly hard_secs?: number | undefined;
  readonly log_max_bytes?: number | undefined;
  readonly result_max_bytes?: number | undefined;
  readonly grace_secs?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The number in `text`, or undefined where it is not a non-negative one that a timer or a file can bear. */
function readNumber(text: string | undefined, limit: Limit): number | undefined {
  const value = text === undefined || /^\s*-/.test(text) ? undefined : decimalOf(text);
  if (value === undefined || value > limit.max) return undefined;
  return limit.unit === 'seconds' || /^[\s+\d]+$/.test(text ?? '') ? value : undefined;
}

function positive(env: Environment, limit: Limit): number {
  const value = readNumber(env[limit.env], limit);
  return value !== undefined && value > 0 ? value : limit.fallback;
}

/** Whether a value of the limit's variable counts, for a job of some skill at least. */
export function isUsable(text: string, limit: Limit): boolean {
  const value = readNumber(text, limit);
  return value !== undefined && (value > 0 || limit === IDLE_SECS);
}

/** The hard window where none was set: at least the floor, and a margin above the caller's own worker cap. */
function hardFallbackSecs(env: Environment): number {
  const worker = readNumber(env[WORKER_HARD_ENV], HARD_SECS) ?? 0;
  return Math.min(Math.max(HARD_SECS.fallback, worker + WORKER_HARD_MARGIN_SECS), HARD_SECS.max);
}

function idleFromEnvironment(env: Environment, skill: string): number | null {
  const value = readNumber(env[IDLE_SECS.env], IDLE_SECS);
  if (value === 0 && skill === IDLE_OFF_SKILL) return null;
  return value !== undefined && value > 0 ? value : IDLE_SECS.fallback;
}

/** Whether a job of `skill` may run without an idle window. */
export function mayDisableIdle(skill: string): boolean {
  return skill === IDLE_OFF_SKILL;
}

/**
 * The windows in force for a job: the caller's overrides, else the environment, else the defaults. Unusable environment
 * values (empty, `30abc`, negative, `nan`, `inf`, beyond a timer's range) count as unset.
 */
export function supervisionFor(
  env: Environment,
  skill: string,
  overrides: SupervisionOverrides = {},
): Supervision {
  const idle = overrides.idle_secs;
  return {
    idle: idle === undefined ? idleFromEnvironment(env, skill) : idle === 0 ? null : idle,
    hard: overrides.hard_secs ?? positive(env, { ...HARD_SECS, fallback: hardFallbackSecs(env) }),
    log_max: overrides.log_max_bytes ?? positive(env, LOG_MAX_BYTES),
    result_max: overrides.result_max_bytes ?? positive(env, RESULT_MAX_BYTES),
    poll: positive(env, POLL_SECS),
    grace: overrides.grace_secs ?? positive(env, GRACE_SECS),
  };
}

/** The cap on a read of a file that belongs to no job, in bytes. */
export function resultCapFrom(env: Environment): number {
  return positive(env, RESULT_MAX_BYTES);
}
