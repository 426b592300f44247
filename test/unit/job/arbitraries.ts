/** What may happen to a job, for properties. */
import * as fc from 'fast-check';
import type { Ending, ResultEvidence } from '../../../runner-core/job/classify.ts';
import type { JobEvent } from '../../../runner-core/job/decide.ts';
import type { Supervision } from '../../../runner-core/job/windows.ts';

export const endings: fc.Arbitrary<Ending> = fc.oneof(
  fc.record({ kind: fc.constant('exited' as const), code: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('exited' as const), code: fc.constant(0) }),
  fc.record({ kind: fc.constant('signaled' as const), signal: fc.integer({ min: 1, max: 64 }) }),
  fc.constant({ kind: 'lost' as const }),
);

export const results: fc.Arbitrary<ResultEvidence> = fc.oneof(
  fc.constantFrom(
    { kind: 'undeclared' as const },
    { kind: 'absent' as const },
    { kind: 'empty' as const },
    { kind: 'not-regular' as const },
    { kind: 'stale' as const },
    { kind: 'invalid' as const, problem: 'not UTF-8' },
  ),
  fc.record({ kind: fc.constant('present' as const), bytes: fc.integer({ min: 1, max: 200 }) }),
);

/** Small numbers, so that windows and caps are often reached. */
export const supervisions: fc.Arbitrary<Supervision> = fc.record({
  idle: fc.option(fc.integer({ min: 1, max: 50 }), { nil: null }),
  hard: fc.integer({ min: 1, max: 100 }),
  log_max: fc.integer({ min: 1, max: 100 }),
  result_max: fc.integer({ min: 1, max: 100 }),
  poll: fc.constant(2),
  grace: fc.constant(5),
});

const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('log-measured' as const),
      bytes: fc.integer({ min: 0, max: 110 }),
      grewMs: fc.integer({ min: -50_000, max: 150_000 }),
      afterMs: fc.integer({ min: 0, max: 20_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('worker-ended' as const),
      ending: endings,
      result: results,
      logBytes: fc.integer({ min: 0, max: 110 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('reap-requested' as const), workerLives: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'directory-lost' as const }) },
);

/** A life of a job: events in an order in which time only goes forward, from moment 0 on. */
export const lives: fc.Arbitrary<JobEvent[]> = fc.array(steps, { maxLength: 25 }).map((list) => {
  let nowMs = 0;
  return list.map((step): JobEvent => {
    if (step.type !== 'log-measured') return step;
    nowMs += step.afterMs;
    return { type: step.type, bytes: step.bytes, grewMs: step.grewMs, nowMs };
  });
});
