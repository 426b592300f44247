import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  classify,
  type Ending,
  overLogCap,
  REAPED,
  type ResultEvidence,
} from '../../../runner-core/job/classify.ts';
import { isTerminal, JOB_STATES, TERMINAL_STATES } from '../../../runner-core/job/state.ts';
import { endings, results } from './arbitraries.ts';

const CAPS = { logMaxBytes: 100, resultMaxBytes: 100 };
const exit0: Ending = { kind: 'exited', code: 0 };
const killed: Ending = { kind: 'signaled', signal: 9 };
const lost: Ending = { kind: 'lost' };
const present: ResultEvidence = { kind: 'present', bytes: 7 };
const missing = ['absent', 'empty', 'not-regular', 'stale'] as const;
const noResult = 'worker exited 0 without publishing a non-empty result';

const by = (ending: Ending, result: ResultEvidence, logBytes = 0, reapPending = false) =>
  classify(ending, result, logBytes, CAPS, reapPending);

describe('a worker that exits 0', () => {
  test.each([{ kind: 'undeclared' } as const, present])('is done with a result that is $kind', (result) => {
    expect(by(exit0, result)).toEqual({ state: 'done', reason: 'worker exited 0' });
  });

  test.each(missing)('has failed when its declared result is %s', (kind) => {
    const { state, reason } = by(exit0, { kind });
    expect(state).toBe('failed');
    expect(reason).toContain(noResult);
  });

  test('has failed for a result that lay there before, and is told so', () => {
    expect(by(exit0, { kind: 'stale' }).reason).toContain('unchanged since before the start');
  });

  test('has failed for a result that is not the JSON it was to be, with the problem', () => {
    const verdict = by(exit0, { kind: 'invalid', problem: 'Unexpected end of JSON input (position 7)' });
    expect(verdict.state).toBe('failed');
    expect(verdict.reason).toContain('(position 7)');
  });
});

describe('a worker that exits otherwise', () => {
  test('has failed with its exit code, whatever result it left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 255 }), results, (code, result) => {
        if (result.kind === 'present' && result.bytes > CAPS.resultMaxBytes) return;
        expect(by({ kind: 'exited', code }, result)).toEqual({
          state: 'failed',
          reason: `worker exited ${code}`,
        });
      }),
    );
  });
});

describe.each([
  ['killed by a signal that nobody here sent', killed],
  ['whose end nobody saw', lost],
])('a worker %s', (_what, ending) => {
  test('is done when its result is there', () => {
    expect(by(ending, present).state).toBe('done');
  });

  test.each([
    ...missing.map((kind) => ({ kind })),
    { kind: 'undeclared' as const },
    { kind: 'invalid' as const, problem: 'x' },
  ])('died without result when that is $kind', (result) => {
    expect(by(ending, result).state).toBe('died-without-result');
  });
});

test('the signal is named by its number', () => {
  expect(by(killed, present).reason).toBe('worker killed by signal 9 after publishing its result');
  expect(by(killed, { kind: 'absent' }).reason).toBe('worker killed by signal 9 with no result evidence');
});

describe('the caps', () => {
  test('a result may have exactly its cap, and one byte more has failed', () => {
    expect(by(exit0, { kind: 'present', bytes: 100 }).state).toBe('done');
    expect(by(exit0, { kind: 'present', bytes: 101 })).toEqual({
      state: 'failed',
      reason: 'result exceeded byte cap (101 > 100 bytes)',
    });
  });

  test('a log may have exactly its cap, and one byte more has failed', () => {
    expect(by(exit0, present, 100).state).toBe('done');
    expect(by(exit0, present, 101)).toEqual({
      state: 'failed',
      reason: 'out.log exceeded byte cap (101 > 100 bytes)',
    });
    expect(overLogCap(101, CAPS)).toEqual(by(exit0, present, 101));
  });

  test('whatever is over a cap has failed, however the worker ended', () => {
    fc.assert(
      fc.property(endings, results, fc.integer({ min: 0, max: 200 }), (ending, result, logBytes) => {
        const over = logBytes > 100 || (result.kind === 'present' && result.bytes > 100);
        if (over) expect(by(ending, result, logBytes).state).toBe('failed');
      }),
    );
  });
});

describe('a reap that is noticed only after the end', () => {
  test('leaves done work done, and makes everything else a timeout', () => {
    fc.assert(
      fc.property(endings, results, fc.integer({ min: 0, max: 200 }), (ending, result, logBytes) => {
        const own = by(ending, result, logBytes, false);
        const reaped = by(ending, result, logBytes, true);
        expect(reaped).toEqual(own.state === 'done' ? own : REAPED);
      }),
    );
  });

  test('is told as one', () => {
    expect(REAPED).toEqual({ state: 'timeout', reason: 'reaped on request before completion' });
  });
});

test('every end has one of the four final words and one line of reason', () => {
  fc.assert(
    fc.property(endings, results, fc.nat(200), fc.boolean(), (ending, result, logBytes, reaping) => {
      const { state, reason } = by(ending, result, logBytes, reaping);
      expect(TERMINAL_STATES).toContain(state);
      expect(reason).toMatch(/^[^\r\n]+$/);
    }),
  );
});

test('done is never said of a declared result that is not there', () => {
  fc.assert(
    fc.property(endings, results, fc.nat(200), fc.boolean(), (ending, result, logBytes, reaping) => {
      if (by(ending, result, logBytes, reaping).state === 'done')
        expect(['present', 'undeclared']).toContain(result.kind);
    }),
  );
});

test('the final words are the four of the contract, and no other state is one', () => {
  expect(JOB_STATES.filter(isTerminal)).toEqual(['done', 'failed', 'timeout', 'died-without-result']);
  expect(isTerminal('Done')).toBe(false);
  expect(isTerminal('')).toBe(false);
});
