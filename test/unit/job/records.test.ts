import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leaseRecord, metaRecord, outcomeRecord, pidRecord } from '../../../runner-core/job/records.ts';
import { shaped } from '../../../runner-core/job/shape.ts';
import { MAX_TIMER_SECS } from '../../../runner-core/limits.ts';

const supervision = { idle: 240, hard: 1230, log_max: 1, result_max: 1, poll: 2, grace: 5 };

describe('meta.json', () => {
  test('loads with any of its fields missing or null', () => {
    const full = {
      job_id: 'j',
      skill: 's',
      run_id: 'r',
      label: 'l',
      input_digest: 'd',
      started_at: '2026-11-30T12:17:41Z',
      worker_argv: ['/bin/true'],
      result_path: '/r',
      result_format: 'json',
      result_baseline: { dev: '1', ino: '2', size: '3', mtime_ns: '4' },
      supervision,
      cwd: '/',
      key: 'k',
      client: 'cli',
    };
    expect(shaped(metaRecord, full)).toEqual(full);
    for (const name of Object.keys(full)) {
      const { [name as keyof typeof full]: _left, ...rest } = full;
      expect(shaped(metaRecord, rest) !== undefined, `without ${name}`).toBe(true);
      expect(shaped(metaRecord, { ...full, [name]: null }) !== undefined, `${name} null`).toBe(true);
    }
    expect(shaped(metaRecord, {}) !== undefined).toBe(true);
  });

  test('keeps the fields that a later version adds', () => {
    expect(shaped(metaRecord, { engine: 'slurm' })).toEqual({ engine: 'slurm' });
  });

  test('of a job without an idle window loads', () => {
    expect(shaped(metaRecord, { supervision: { ...supervision, idle: null } })?.supervision?.idle).toBeNull();
  });

  test('with windows that no timer can bear loads with the longest that one can', () => {
    const endless = { ...supervision, idle: 1e12, hard: 1e300, poll: 1e9, grace: 1e9 };
    expect(shaped(metaRecord, { supervision: endless })?.supervision).toEqual({
      ...supervision,
      idle: MAX_TIMER_SECS,
      hard: MAX_TIMER_SECS,
      poll: MAX_TIMER_SECS,
      grace: MAX_TIMER_SECS,
    });
  });

  test.each([
    ['a list', []],
    ['a text', 'x'],
    ['null', null],
    ['an argv that is no list', { worker_argv: 'rm -rf' }],
    ['a result path that is no text', { result_path: 7 }],
  ])('is refused when it is %s', (_what, value) => {
    expect(shaped(metaRecord, value) !== undefined).toBe(false);
  });
});

describe('pid', () => {
  test('loads as the reference writes it, without identities', () => {
    const record = { supervisor_pid: 12, worker_pid: 13, supervisor_pgid: 11 };
    expect(shaped(pidRecord, record)).toEqual(record);
  });

  test('loads before there is a worker', () => {
    expect(shaped(pidRecord, { supervisor_pid: 12, worker_pid: null })?.worker_pid).toBeNull();
  });

  test('never gives a number that kill(2) takes for more than one process', () => {
    for (const field of ['supervisor_pid', 'worker_pid', 'supervisor_pgid']) {
      for (const number of [0, -1, -12, 1.5, '12', true, 1e300]) {
        expect(shaped(pidRecord, { [field]: number }) !== undefined, `${field} ${number}`).toBe(false);
      }
    }
  });

  test('gives whole positive numbers for any content', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (supervisor_pid, worker_pid) => {
        const record = shaped(pidRecord, { supervisor_pid, worker_pid });
        for (const pid of [record?.supervisor_pid, record?.worker_pid]) {
          if (pid !== undefined && pid !== null) expect(Number.isSafeInteger(pid) && pid > 0).toBe(true);
        }
      }),
    );
  });
});

describe('outcome.json', () => {
  test('has to have a final state and a reason', () => {
    expect(shaped(outcomeRecord, { state: 'done', reason: '' }) !== undefined).toBe(true);
    expect(shaped(outcomeRecord, { state: 'running', reason: '' }) !== undefined).toBe(false);
    expect(shaped(outcomeRecord, { state: 'done' }) !== undefined).toBe(false);
    expect(shaped(outcomeRecord, { reason: '' }) !== undefined).toBe(false);
  });

  test('keeps the fields that a later version adds', () => {
    const record = { schema_version: 9, state: 'failed', reason: 'r', cpu_secs: 3 };
    expect(shaped(outcomeRecord, record)).toEqual(record);
  });
});

test('a lease names its holder by pid and identity', () => {
  expect(shaped(leaseRecord, { pid: 3, identity: 'b/n/1' }) !== undefined).toBe(true);
  for (const spoilt of [{}, { pid: 3 }, { pid: -1, identity: '' }, { identity: 'x' }, null]) {
    expect(shaped(leaseRecord, spoilt) !== undefined).toBe(false);
  }
});
