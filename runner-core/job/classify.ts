import type { Verdict } from './state.ts';

/** How a worker's process ended. `lost`: nobody was there to see it. */
export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: number }
  | { readonly kind: 'lost' };

/** What lay at the declared result path when the worker had ended. */
export type ResultEvidence =
  | { readonly kind: 'undeclared' }
  | { readonly kind: 'absent' | 'empty' | 'not-regular' | 'stale' }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'present'; readonly bytes: number };

export interface Caps {
  readonly logMaxBytes: number;
  readonly resultMaxBytes: number;
}

const NO_RESULT = 'worker exited 0 without publishing a non-empty result';

function withoutResult(result: Exclude<ResultEvidence, { kind: 'present' | 'undeclared' }>): string {
  switch (result.kind) {
    case 'absent':
    case 'empty':
      return NO_RESULT;
    case 'not-regular':
      return `${NO_RESULT} (not a regular file)`;
    case 'stale':
      return `${NO_RESULT} (the file there is unchanged since before the start)`;
    case 'invalid':
      return `worker exited 0 but its result is not valid JSON: ${result.problem}`;
  }
}

/**
 * The state of a job whose worker has ended by itself.
 *
 * `reapPending`: a reap was asked for and noticed only now; work that was already done stays done, all else is a
 * `timeout`. `logBytes` is the size of `out.log` in bytes.
 */
export function classify(
  ending: Ending,
  result: ResultEvidence,
  logBytes: number,
  caps: Caps,
  reapPending: boolean,
): Verdict {
  const verdict = classifyEnding(ending, result, logBytes, caps);
  return reapPending && verdict.state !== 'done' ? REAPED : verdict;
}

function classifyEnding(ending: Ending, result: ResultEvidence, logBytes: number, caps: Caps): Verdict {
  if (result.kind === 'present' && result.bytes > caps.resultMaxBytes)
    return overResultCap(result.bytes, caps);
  if (logBytes > caps.logMaxBytes) return overLogCap(logBytes, caps);
  const present = result.kind === 'present';
  switch (ending.kind) {
    case 'exited':
      if (ending.code !== 0) return { state: 'failed', reason: `worker exited ${ending.code}` };
      if (present || result.kind === 'undeclared') return { state: 'done', reason: 'worker exited 0' };
      return { state: 'failed', reason: withoutResult(result) };
    case 'signaled':
      return present
        ? { state: 'done', reason: `worker killed by signal ${ending.signal} after publishing its result` }
        : {
            state: 'died-without-result',
            reason: `worker killed by signal ${ending.signal} with no result evidence`,
          };
    case 'lost':
      return present
        ? { state: 'done', reason: 'worker published its result; its supervisor was gone when it ended' }
        : {
            state: 'died-without-result',
            reason: 'supervisor and worker both gone without a terminal record',
          };
  }
}

export const REAPED: Verdict = { state: 'timeout', reason: 'reaped on request before completion' };

export function overLogCap(bytes: number, caps: Pick<Caps, 'logMaxBytes'>): Verdict {
  return { state: 'failed', reason: `out.log exceeded byte cap (${bytes} > ${caps.logMaxBytes} bytes)` };
}

function overResultCap(bytes: number, caps: Caps): Verdict {
  return { state: 'failed', reason: `result exceeded byte cap (${bytes} > ${caps.resultMaxBytes} bytes)` };
}
