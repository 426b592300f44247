import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mayDisableIdle, resultCapFrom, supervisionFor } from '../../../runner-core/job/windows.ts';
import { MAX_TIMER_SECS } from '../../../runner-core/limits.ts';

const DEFAULTS = { idle: 240, hard: 1230, log_max: 10_485_760, result_max: 5_242_880, poll: 2, grace: 5 };

const variables = [
  ['CE_PEER_IDLE_SECS', 'idle'],
  ['CE_PEER_HARD_SECS', 'hard'],
  ['CE_PEER_LOG_MAX_BYTES', 'log_max'],
  ['CE_PEER_RESULT_MAX_BYTES', 'result_max'],
  ['CE_PEER_POLL_SECS', 'poll'],
  ['CE_PEER_GRACE_SECS', 'grace'],
] as const;

const bytes = ['CE_PEER_LOG_MAX_BYTES', 'CE_PEER_RESULT_MAX_BYTES'];

describe('the windows of a job', () => {
  test('have the defaults of the contract where nothing is set', () => {
    expect(supervisionFor({}, 's')).toEqual(DEFAULTS);
  });

  describe.each(variables)('from %s', (name, field) => {
    test('take its number', () => {
      expect(supervisionFor({ [name]: '17' }, 's')).toEqual({ ...DEFAULTS, [field]: 17 });
    });

    test.each(['', ' ', '30abc', '-5', '0', 'nan', 'inf', '-inf', 'Infinity', '0x10', '1e999', '--', '5 6'])(
      'fall back to the default for the unusable value %j',
      (value) => {
        expect(supervisionFor({ [name]: value }, 's')).toEqual(DEFAULTS);
      },
    );

    test(`${bytes.includes(name) ? 'refuse' : 'take'} a fraction`, () => {
      const expected = bytes.includes(name) ? DEFAULTS[field] : 1.5;
      expect(supervisionFor({ [name]: '1.5' }, 's')[field]).toBe(expected);
    });

    test('are always positive and finite, whatever it holds', () => {
      const texts = fc.oneof(
        fc.string(),
        fc.double().map(String),
        fc.integer().map(String),
        fc.constantFrom('1e308', '9'.repeat(400), `${2 ** 31}`, '1e-400'),
      );
      fc.assert(
        fc.property(texts, (value) => {
          const found = supervisionFor({ [name]: value }, 's')[field];
          expect(found).toBeGreaterThan(0);
          expect(Number.isFinite(found)).toBe(true);
          if (!bytes.includes(name)) expect(found).toBeLessThanOrEqual(MAX_TIMER_SECS);
        }),
      );
    });
  });

  test('beyond the range of a timer count as unset, since such a timer would fire at once', () => {
    expect(supervisionFor({ CE_PEER_HARD_SECS: '2147483' }, 's').hard).toBe(2_147_483);
    expect(supervisionFor({ CE_PEER_HARD_SECS: '2147484' }, 's').hard).toBe(1230);
    expect(supervisionFor({ CE_PEER_IDLE_SECS: '1e10' }, 's').idle).toBe(240);
  });

  test('surrounding spaces, a plus sign and an exponent are no fault', () => {
    expect(supervisionFor({ CE_PEER_IDLE_SECS: ' +1e2\n' }, 's').idle).toBe(100);
  });
});

describe('the hard window', () => {
  test.each([
    ['1000', 1230],
    ['1200', 1230],
    ['1200.5', 1230.5],
    ['3600', 3630],
    ['oops', 1230],
    ['inf', 1230],
    ['2147483', MAX_TIMER_SECS],
  ])('stays 30 s above a worker cap of %j, and at the floor at least', (worker, hard) => {
    expect(supervisionFor({ CROSS_MODEL_HARD_SECS: worker }, 's').hard).toBe(hard);
  });

  test('that was set itself wins over the worker cap, also below the floor', () => {
    expect(supervisionFor({ CROSS_MODEL_HARD_SECS: '3600', CE_PEER_HARD_SECS: '9' }, 's').hard).toBe(9);
  });

  test('that was set to something unusable falls back to the worker cap and its margin', () => {
    expect(supervisionFor({ CROSS_MODEL_HARD_SECS: '3600', CE_PEER_HARD_SECS: '9x' }, 's').hard).toBe(3630);
  });
});

describe('the idle window', () => {
  test('is switched off by 0 for ce-work alone', () => {
    expect(supervisionFor({ CE_PEER_IDLE_SECS: '0' }, 'ce-work').idle).toBeNull();
    expect(supervisionFor({ CE_PEER_IDLE_SECS: '0.0' }, 'ce-work').idle).toBeNull();
    expect(supervisionFor({ CE_PEER_IDLE_SECS: '0' }, 'ce-review').idle).toBe(240);
    expect(mayDisableIdle('ce-work')).toBe(true);
    expect(mayDisableIdle('ce-work2')).toBe(false);
  });

  test('is not switched off for ce-work by anything else that is no number', () => {
    for (const value of ['', '-0', 'none', '0s']) {
      expect(supervisionFor({ CE_PEER_IDLE_SECS: value }, 'ce-work').idle).toBe(240);
    }
  });
});

test('what the caller sets for one job wins over the environment', () => {
  const env = Object.fromEntries(variables.map(([name]) => [name, '99']));
  expect(
    supervisionFor(env, 's', {
      idle_secs: 1,
      hard_secs: 2,
      log_max_bytes: 3,
      result_max_bytes: 4,
      grace_secs: 6,
    }),
  ).toEqual({ idle: 1, hard: 2, log_max: 3, result_max: 4, poll: 99, grace: 6 });
  expect(supervisionFor(env, 'ce-work', { idle_secs: 0 }).idle).toBeNull();
  expect(supervisionFor(env, 's', {})).toEqual({
    idle: 99,
    hard: 99,
    log_max: 99,
    result_max: 99,
    poll: 99,
    grace: 99,
  });
});

test('a file of no job is read up to the result cap of the environment', () => {
  expect(resultCapFrom({})).toBe(5 * 1024 * 1024);
  expect(resultCapFrom({ CE_PEER_RESULT_MAX_BYTES: '9' })).toBe(9);
  expect(resultCapFrom({ CE_PEER_RESULT_MAX_BYTES: '1e3' })).toBe(5 * 1024 * 1024);
});
