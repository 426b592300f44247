import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { begin, decide, type JobEvent, nextLookMs, type Phase } from '../../../runner-core/job/decide.ts';
import type { Supervision } from '../../../runner-core/job/windows.ts';
import { lives, supervisions } from './arbitraries.ts';

const SUPERVISION: Supervision = { idle: 10, hard: 60, log_max: 100, result_max: 100, poll: 2, grace: 5 };

type Running = Phase & { name: 'running' };

function play(supervision: Supervision, events: readonly JobEvent[], from: Phase = begin(0)): Phase {
  return events.reduce<Phase>((phase, event) => decide(supervision, phase, event), from);
}

function running(phase: Phase): Running {
  if (phase.name !== 'running') throw new Error(`the phase is ${phase.name}`);
  return phase;
}

/** A look at moment `nowMs` that finds `bytes`, last written at `grewMs`. */
const look = (nowMs: number, bytes: number, grewMs = nowMs): JobEvent => ({
  type: 'log-measured',
  bytes,
  grewMs,
  nowMs,
});

const exit = (code: number): JobEvent => ({
  type: 'worker-ended',
  ending: { kind: 'exited', code },
  result: { kind: 'undeclared' },
  logBytes: 0,
});

describe('any sequence of events', () => {
  test('never changes a phase that is ending or abandoned', () => {
    fc.assert(
      fc.property(supervisions, lives, lives, (supervision, before, after) => {
        const phase = play(supervision, before);
        if (phase.name !== 'running') expect(play(supervision, after, phase)).toBe(phase);
      }),
    );
  });

  test('has its verdict fixed by the first event that decides', () => {
    fc.assert(
      fc.property(supervisions, lives, (supervision, events) => {
        const first = events.findIndex(
          (_, index) => play(supervision, events.slice(0, index + 1)).name !== 'running',
        );
        const decided = first === -1 ? events : events.slice(0, first + 1);
        expect(play(supervision, events)).toEqual(play(supervision, decided));
      }),
    );
  });

  test('ends the moment a look finds a window over or the log past its cap, and no earlier', () => {
    fc.assert(
      fc.property(supervisions, lives, (supervision, events) => {
        let phase: Phase = begin(0);
        for (const event of events) {
          const next = decide(supervision, phase, event);
          if (phase.name === 'running' && event.type === 'log-measured' && next.name === 'running') {
            expect(event.bytes).toBeLessThanOrEqual(supervision.log_max);
            expect(event.nowMs).toBeLessThan(supervision.hard * 1000);
            if (supervision.idle !== null)
              expect(event.nowMs - next.lastGrowthMs).toBeLessThan(supervision.idle * 1000);
          }
          phase = next;
        }
      }),
    );
  });

  test('never dates growth before the start, before an earlier growth, or after the look that saw it', () => {
    fc.assert(
      fc.property(supervisions, lives, (supervision, events) => {
        let phase: Phase = begin(0);
        for (const event of events) {
          const next = decide(supervision, phase, event);
          if (phase.name === 'running' && next.name === 'running' && event.type === 'log-measured') {
            expect(next.lastGrowthMs).toBeGreaterThanOrEqual(phase.lastGrowthMs);
            expect(next.lastGrowthMs).toBeLessThanOrEqual(event.nowMs);
          }
          phase = next;
        }
      }),
    );
  });
});

describe('the next look', () => {
  test('is never later than any window', () => {
    fc.assert(
      fc.property(supervisions, lives, (supervision, events) => {
        const phase = play(supervision, events);
        if (phase.name !== 'running') return;
        const at = nextLookMs(supervision, phase);
        expect(at).toBeLessThanOrEqual(phase.startedMs + supervision.hard * 1000);
        if (supervision.idle !== null)
          expect(at).toBeLessThanOrEqual(phase.lastGrowthMs + supervision.idle * 1000);
      }),
    );
  });

  test('decides, where the log did not grow meanwhile: nobody looks for nothing', () => {
    fc.assert(
      fc.property(supervisions, lives, (supervision, events) => {
        const phase = play(supervision, events);
        if (phase.name !== 'running') return;
        const at = nextLookMs(supervision, phase);
        expect(decide(supervision, phase, look(at, phase.logBytes)).name).toBe('ending');
      }),
    );
  });

  test('is the end of the hard window where the idle window is off', () => {
    expect(nextLookMs({ ...SUPERVISION, idle: null }, running(begin(500)))).toBe(60_500);
  });
});

describe('the idle window', () => {
  test('ends a worker that says nothing, counted from its start', () => {
    expect(decide(SUPERVISION, begin(0), look(9_999, 0)).name).toBe('running');
    expect(decide(SUPERVISION, begin(0), look(10_000, 0))).toEqual({
      name: 'ending',
      verdict: { state: 'timeout', reason: 'no output for 10s (idle window)' },
    });
  });

  test('begins anew with every growth of the log', () => {
    const phase = play(SUPERVISION, [look(9_000, 1), look(18_000, 2), look(27_000, 3)]);
    expect(running(phase).lastGrowthMs).toBe(27_000);
  });

  test('counts from when the log grew, not from when that was seen', () => {
    expect(play(SUPERVISION, [look(9_000, 1, 2_000)]).name).toBe('running');
    expect(play(SUPERVISION, [look(12_000, 1, 2_000)]).name).toBe('ending');
  });

  test('looks at the log before it ends a job whose time seems over, as after a sleep of the machine', () => {
    const phase = play(SUPERVISION, [look(50_000, 1, 49_000)]);
    expect(running(phase).lastGrowthMs).toBe(49_000);
  });

  test('does not end a worker that writes all the time on a disk whose clock is behind', () => {
    const looks = Array.from({ length: 50 }, (_, second) =>
      look(second * 1000, second, second * 1000 - 3_600_000),
    );
    expect(play(SUPERVISION, looks).name).toBe('running');
  });

  test('a stamp in the future counts as now', () => {
    expect(running(play(SUPERVISION, [look(1_000, 1, 99_000)])).lastGrowthMs).toBe(1_000);
  });

  test('a log cut short is a new baseline and no growth; what is written after it is', () => {
    const phase = play(SUPERVISION, [look(1_000, 50), look(5_000, 3)]);
    expect(running(phase)).toMatchObject({ logBytes: 3, lastGrowthMs: 1_000 });
    expect(running(play(SUPERVISION, [look(6_000, 4)], phase)).lastGrowthMs).toBe(6_000);
  });

  test('that is off lets a silent worker run to the hard window', () => {
    const quiet = { ...SUPERVISION, idle: null };
    expect(decide(quiet, begin(0), look(59_999, 0)).name).toBe('running');
    expect(decide(quiet, begin(0), look(60_000, 0))).toEqual({
      name: 'ending',
      verdict: { state: 'timeout', reason: 'hard cap 60s exceeded' },
    });
  });

  test('of an adopted job goes on counting from its last output', () => {
    const phase = decide(SUPERVISION, begin(-30_000), look(0, 40, -4_000));
    expect(running(phase).lastGrowthMs).toBe(-4_000);
    expect(decide(SUPERVISION, begin(-30_000), look(0, 40, -10_000)).name).toBe('ending');
  });
});

test('the hard window ends a worker however much it says, counted from the real start', () => {
  const busy = Array.from({ length: 60 }, (_, second) => look(second * 1000, second));
  expect(play(SUPERVISION, busy).name).toBe('running');
  expect(play(SUPERVISION, [...busy, look(60_000, 99)])).toMatchObject({ verdict: { state: 'timeout' } });
});

test('a log past its cap has failed, also when a window is over at the same look', () => {
  expect(decide(SUPERVISION, begin(0), look(1, 100)).name).toBe('running');
  for (const nowMs of [1, 10_000, 60_000]) {
    expect(decide(SUPERVISION, begin(0), look(nowMs, 101, 0))).toEqual({
      name: 'ending',
      verdict: { state: 'failed', reason: 'out.log exceeded byte cap (101 > 100 bytes)' },
    });
  }
});

describe('a reap', () => {
  const reap = (workerLives: boolean): JobEvent => ({ type: 'reap-requested', workerLives });

  test('of a living worker is a timeout, whatever the worker does during the grace', () => {
    const phase = decide(SUPERVISION, begin(0), reap(true));
    expect(phase).toEqual({
      name: 'ending',
      verdict: { state: 'timeout', reason: 'reaped on request before completion' },
    });
    expect(decide(SUPERVISION, phase, exit(0))).toBe(phase);
  });

  test('that finds the worker ended already leaves it done if it was', () => {
    expect(play(SUPERVISION, [reap(false), exit(0)])).toMatchObject({ verdict: { state: 'done' } });
    expect(play(SUPERVISION, [reap(false), exit(3)])).toMatchObject({ verdict: { state: 'timeout' } });
  });

  test('that is pending is not forgotten while the log is looked at', () => {
    expect(play(SUPERVISION, [reap(false), look(1_000, 5), exit(3)])).toMatchObject({
      verdict: { state: 'timeout' },
    });
  });

  test('repeated changes nothing', () => {
    const once = play(SUPERVISION, [reap(false)]);
    expect(play(SUPERVISION, [reap(false)], once)).toEqual(once);
  });
});

test('an exit is classified with the caps of the job', () => {
  const ended: JobEvent = {
    type: 'worker-ended',
    ending: { kind: 'exited', code: 0 },
    result: { kind: 'present', bytes: 101 },
    logBytes: 0,
  };
  expect(decide(SUPERVISION, begin(0), ended)).toMatchObject({ verdict: { state: 'failed' } });
});

test('a job whose directory is gone is abandoned: no verdict, for there is nowhere to write one', () => {
  expect(decide(SUPERVISION, begin(0), { type: 'directory-lost' })).toEqual({ name: 'abandoned' });
});
