/**
 * The supervisor's decisions, all of them: what a state of the job and an event make of each other. No clock, no disk,
 * no process; the loop in supervisor/supervise.ts feeds it and carries out what it says.
 */
import { classify, type Ending, overLogCap, REAPED, type ResultEvidence } from './classify.ts';
import type { Verdict } from './state.ts';
import type { Supervision } from './windows.ts';

/** All moments are milliseconds on the machine's monotonic clock. */
export type Phase =
  | {
      readonly name: 'running';
      readonly startedMs: number;
      readonly lastGrowthMs: number;
      /** The last look: whatever the log gained since, it gained after that, however wrong its time stamp. */
      readonly lookedMs: number;
      readonly logBytes: number;
      readonly reapPending: boolean;
    }
  /** The verdict is fixed; what the worker still does changes nothing. */
  | { readonly name: 'ending'; readonly verdict: Verdict }
  /** The job directory is gone: nothing can be recorded, but nobody may be left running. */
  | { readonly name: 'abandoned' };

export type JobEvent =
  /** The log was looked at; `grewMs` is when it last grew, as far as its time stamp tells. */
  | { readonly type: 'log-measured'; readonly bytes: number; readonly grewMs: number; readonly nowMs: number }
  | {
      readonly type: 'worker-ended';
      readonly ending: Ending;
      readonly result: ResultEvidence;
      readonly logBytes: number;
    }
  /** `workerLives` false: it has ended already, and its end is about to be told. */
  | { readonly type: 'reap-requested'; readonly workerLives: boolean }
  | { readonly type: 'directory-lost' };

export function begin(startedMs: number, logBytes = 0): Phase {
  return {
    name: 'running',
    startedMs,
    lastGrowthMs: startedMs,
    lookedMs: startedMs,
    logBytes,
    reapPending: false,
  };
}

/** The phase that follows. An `ending` or `abandoned` phase never changes again. */
export function decide(supervision: Supervision, phase: Phase, event: JobEvent): Phase {
  if (phase.name !== 'running') return phase;
  const caps = { logMaxBytes: supervision.log_max, resultMaxBytes: supervision.result_max };
  switch (event.type) {
    case 'worker-ended':
      return ending(classify(event.ending, event.result, event.logBytes, caps, phase.reapPending));
    case 'reap-requested':
      return event.workerLives ? ending(REAPED) : { ...phase, reapPending: true };
    case 'directory-lost':
      return { name: 'abandoned' };
    case 'log-measured': {
      const grew = event.bytes > phase.logBytes;
      // A truncated log is a new baseline, not growth.
      const next = {
        ...phase,
        logBytes: event.bytes,
        lookedMs: event.nowMs,
        lastGrowthMs: grew
          ? Math.max(phase.lookedMs, Math.min(event.grewMs, event.nowMs))
          : phase.lastGrowthMs,
      };
      if (event.bytes > supervision.log_max) return ending(overLogCap(event.bytes, caps));
      if (supervision.idle !== null && event.nowMs - next.lastGrowthMs >= supervision.idle * 1000) {
        return ending({ state: 'timeout', reason: `no output for ${supervision.idle}s (idle window)` });
      }
      if (event.nowMs - phase.startedMs >= supervision.hard * 1000) {
        return ending({ state: 'timeout', reason: `hard cap ${supervision.hard}s exceeded` });
      }
      return next;
    }
  }
}

/** When the log must be looked at again even if nothing happens: the end of the nearer window. */
export function nextLookMs(supervision: Supervision, phase: Phase & { name: 'running' }): number {
  const hard = phase.startedMs + supervision.hard * 1000;
  return supervision.idle === null ? hard : Math.min(hard, phase.lastGrowthMs + supervision.idle * 1000);
}

function ending(verdict: Verdict): Phase {
  return { name: 'ending', verdict };
}
