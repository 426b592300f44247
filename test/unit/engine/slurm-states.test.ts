import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  graceWithin,
  isActive,
  isSeenToEnd,
  verdictOn,
  whyTerminated,
  workerEnvironment,
} from '../../../runner-core/engine/slurm-states.ts';

const known = (state: string, reason = '') => ({ kind: 'known', state, reason }) as const;

describe("a state of Slurm's", () => {
  test.each(['PENDING', 'CONFIGURING', 'RUNNING', 'COMPLETING', 'SUSPENDED', 'REQUEUED', 'STOPPED'])(
    '%s is alive',
    (state) => {
      expect(isActive(state)).toBe(true);
    },
  );

  const ends = [
    'COMPLETED',
    'FAILED',
    'CANCELLED',
    'TIMEOUT',
    'NODE_FAIL',
    'PREEMPTED',
    'OUT_OF_MEMORY',
    'BOOT_FAIL',
    'DEADLINE',
  ];

  test.each(ends)('%s is an end, and is explained', (state) => {
    expect(isActive(state)).toBe(false);
    const verdict = verdictOn(known(state), true);
    expect(verdict.state).toBe(state === 'TIMEOUT' ? 'timeout' : 'died-without-result');
    expect(verdict.reason).toMatch(/^it|^its/);
    expect(verdict.reason).toContain(`Slurm says ${state}`);
  });

  test('tells that nothing is left only where the node has seen it end', () => {
    expect(ends.filter((state) => isSeenToEnd(known(state)))).toEqual([
      'COMPLETED',
      'FAILED',
      'OUT_OF_MEMORY',
    ]);
    expect(isSeenToEnd({ kind: 'unknown', accounting: undefined })).toBe(false);
  });

  test('that nobody knows is an end, in its own words', () => {
    expect(verdictOn(known('EXPLODED', 'Why'), true)).toEqual({
      state: 'died-without-result',
      reason: 'it ended; Slurm says EXPLODED (Why)',
    });
  });

  test('is told with its reason, and with whether the job had begun', () => {
    expect(verdictOn(known('NODE_FAIL', 'NodeDown'), true).reason).toBe(
      'its node was lost; Slurm says NODE_FAIL (NodeDown)',
    );
    expect(verdictOn(known('CANCELLED'), false).reason).toBe(
      'it was cancelled in Slurm before it began; Slurm says CANCELLED',
    );
    expect(verdictOn(known('FAILED', 'NonZeroExitCode'), false).reason).toMatch(
      /^its supervisor could not be started before it began/,
    );
  });
});

describe('a job that Slurm does not know any more', () => {
  test('is told by accounting where there is any: by whom it was cancelled, too', () => {
    expect(verdictOn({ kind: 'unknown', accounting: 'CANCELLED by 1000' }, true).reason).toBe(
      'it was cancelled in Slurm; Slurm says CANCELLED by 1000',
    );
    expect(verdictOn({ kind: 'unknown', accounting: 'TIMEOUT' }, true).state).toBe('timeout');
  });

  test('has died otherwise', () => {
    expect(verdictOn({ kind: 'unknown', accounting: undefined }, true)).toEqual({
      state: 'died-without-result',
      reason: 'Slurm does not know the job any more, and it ended without a record',
    });
  });
});

describe('a TERM from Slurm', () => {
  const line = (due = '') =>
    `slurmstepd-n1: error: *** JOB 8 ON n1 CANCELLED AT 2026-11-30T15:38:55${due} ***\n`;

  test('is explained by what Slurm printed before', () => {
    expect(whyTerminated(line()).reason).toBe('cancelled in Slurm before completion');
    expect(whyTerminated(line(' DUE TO TIME LIMIT')).reason).toBe('the time limit of the Slurm job passed');
    expect(whyTerminated(line(' DUE TO PREEMPTION')).reason).toContain('due to preemption');
    expect(whyTerminated(line() + line(' DUE TO JOB REQUEUE')).reason).toContain('due to job requeue');
    expect(whyTerminated('').reason).toBe('cancelled in Slurm before completion');
  });

  test('is a timeout, whatever it says, in one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { state, reason } = whyTerminated(line(` DUE TO ${text}`));
        expect(state).toBe('timeout');
        expect(reason).not.toContain('\n');
      }),
    );
  });
});

describe('the grace of a job on a cluster', () => {
  test('leaves time before the KILL for ending its tree and for the record', () => {
    expect(graceWithin(30)).toBe(25);
    expect(graceWithin(3)).toBe(1.5);
    expect(graceWithin(null)).toBe(Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65_533 }), (killWait) => {
        expect(graceWithin(killWait)).toBeGreaterThan(0);
        expect(graceWithin(killWait)).toBeLessThan(killWait);
      }),
    );
  });
});

describe("a worker's environment on a node", () => {
  test("is its caller's, with what Slurm sets for this job", () => {
    const callers: [string, string][] = [
      ['PATH', '/mine'],
      ['SLURM_JOB_ID', '1'],
      ['SLURM_CONF', '/mine.conf'],
      ['SBATCH_ACCOUNT', 'a'],
      ['CUDA_VISIBLE_DEVICES', '7'],
      ['__proto__', 'p'],
    ];
    const nodes: [string, string][] = [
      ['PATH', '/node'],
      ['HOME', '/node'],
      ['SLURM_JOB_ID', '42'],
      ['SLURMD_NODENAME', 'n1'],
      ['CUDA_VISIBLE_DEVICES', '0'],
      ['PEER_JOBS_SUPERVISOR', '1'],
      ['LC_ALL', 'C'],
    ];
    expect(workerEnvironment(callers, nodes)).toEqual([
      ['PATH', '/mine'],
      ['SLURM_CONF', '/mine.conf'],
      ['SBATCH_ACCOUNT', 'a'],
      ['__proto__', 'p'],
      ['SLURM_JOB_ID', '42'],
      ['SLURMD_NODENAME', 'n1'],
      ['CUDA_VISIBLE_DEVICES', '0'],
    ]);
  });
});
