import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../../runner-core/cli/text.ts';
import {
  footLine,
  headLine,
  jobLine,
  paneOf,
  planFor,
  titleLine,
  windowStart,
} from '../../../runner-core/cli/watch/lines.ts';
import { Growth } from '../../../runner-core/cli/watch/sparkline.ts';
import {
  BEGIN,
  indexOf,
  type Press,
  press,
  shownOf,
  type ViewState,
} from '../../../runner-core/cli/watch/view-state.ts';
import type { RosterJob } from '../../../runner-core/index.ts';
import { jobRow } from './job-row.ts';

function job(name: string, fields: Partial<RosterJob> = {}): RosterJob {
  return { ...jobRow(name), last_line: null, read_ms: 0, ...fields };
}

const jobs = [job('a'), job('b', { state: 'done' }), job('c', { state: 'failed' }), job('d')];

function type(state: ViewState, ...keys: (string | Press)[]) {
  let now: ReturnType<typeof press> = { state };
  for (const key of keys) {
    now = press(now.state, typeof key === 'string' ? { input: key } : key, shownOf(jobs, now.state), 2);
  }
  return now;
}
const named = (key: NonNullable<Press['key']>): Press => ({ input: '', key });
const chosen = (state: ViewState): string | undefined =>
  shownOf(jobs, state)[indexOf(shownOf(jobs, state), state)]?.label ?? undefined;

describe('keys', () => {
  test('the first job is chosen, and the choice stays within the list', () => {
    expect(chosen(BEGIN)).toBe('a');
    expect(chosen(type(BEGIN, 'k').state)).toBe('a');
    expect(chosen(type(BEGIN, 'j', 'j').state)).toBe('c');
    expect(chosen(type(BEGIN, named('down'), named('page-down')).state)).toBe('d');
    expect(chosen(type(BEGIN, 'G', 'j').state)).toBe('d');
    expect(chosen(type(BEGIN, 'G', 'g').state)).toBe('a');
  });

  test('a reap needs a plain yes', () => {
    expect(type(BEGIN, 'r').effect).toBeUndefined();
    expect(type(BEGIN, 'r', 'y').effect).toEqual({ kind: 'reap', jobDir: '/jobs/a' });
    for (const answer of ['n', 'Y', ' ', named('enter'), named('escape')]) {
      expect(type(BEGIN, 'r', answer).effect).toBeUndefined();
      expect(type(BEGIN, 'r', answer).state.mode).toBe('looking');
    }
  });

  test('a reap is of the job that was asked about, wherever that stands by now', () => {
    const asked = type(BEGIN, 'r').state;
    const later = press(asked, { input: 'y' }, [job('new'), ...jobs], 2);
    expect(later.effect).toEqual({ kind: 'reap', jobDir: '/jobs/a' });
  });

  test('a settled job is not to be reaped', () => {
    const asked = type(BEGIN, 'j', 'r');
    expect(asked.state.mode).toBe('looking');
    expect(asked.state.message).toContain('done');
  });

  test('what is typed into the filter is no command', () => {
    const typed = type(BEGIN, '/', 'q', 'r');
    expect(typed.effect).toBeUndefined();
    expect(typed.state.text).toBe('qr');
    expect(type(typed.state, named('backspace')).state.text).toBe('q');
    expect(type(typed.state, named('enter')).state).toMatchObject({ mode: 'looking', text: 'qr' });
    expect(type(typed.state, named('escape')).state).toMatchObject({ mode: 'looking', text: '' });
  });

  test('escape shows all jobs again, and the foot says so while it would', () => {
    const keys = '↑↓ choose  / filter  s states  r reap  ? keys  q quit';
    const narrowed = type(BEGIN, 's', '/', 'a', named('enter')).state;
    expect(footLine(narrowed, undefined, 80)).toBe(`esc clear filter  ${keys}`);
    const all = type(narrowed, named('escape')).state;
    expect(all).toMatchObject({ group: 'all', text: '', mode: 'looking' });
    expect(footLine(all, undefined, 80)).toBe(keys);
  });

  test('q leaves', () => {
    expect(type(BEGIN, 'q').effect).toEqual({ kind: 'quit' });
  });

  test('s goes through the states', () => {
    const seen = ['s', 's', 's', 's'].map((_, count) =>
      shownOf(jobs, type(BEGIN, ...Array(count + 1).fill('s')).state).map((one) => one.label),
    );
    expect(seen).toEqual([['a', 'd'], ['c'], ['b'], ['a', 'b', 'c', 'd']]);
  });
});

describe('lines', () => {
  test.for(['unreadable', 'never-started', 'died-without-result'] as const)(
    '%s has a whole word',
    (state) => {
      const { word } = jobLine(job('a', { state }), { chosen: false, columns: 80, nowMs: 0, spark: '' });
      expect(word).not.toContain('…');
    },
  );

  test.for([20, 40, 60, 80, 120, 200])('none is wider than %i columns', (columns) => {
    const wide = job('漢字漢字漢字漢字漢字漢字漢字', {
      last_line: '漢'.repeat(300),
      state: 'died-without-result',
      reason: 'x'.repeat(300),
    });
    const line = jobLine(wide, { chosen: true, columns, nowMs: 0, spark: '····' });
    if (columns >= 60) expect(columnsOf(line.before + line.word + line.after)).toBeLessThanOrEqual(columns);
    expect(columnsOf(headLine(columns))).toBeLessThanOrEqual(columns);
    expect(columnsOf(titleLine(jobs, 1, { ...BEGIN, text: 'x'.repeat(300) }, columns))).toBeLessThanOrEqual(
      columns,
    );
    expect(columnsOf(footLine({ ...BEGIN, mode: 'asking' }, wide, columns))).toBeLessThanOrEqual(columns);
  });

  test.for([
    [8, 0],
    [23, 1],
    [23, 12],
    [23, 200],
    [60, 200],
  ] as const)('in %i rows with %i jobs every row is used once', ([rows, count]) => {
    const plan = planFor({ columns: 80, rows }, Math.max(1, count));
    expect(plan.jobRows + plan.logRows + 4).toBe(rows);
    expect(plan.logRows).toBeGreaterThan(0);
  });

  const failed = { state: 'failed', reason: 'worker exited 3' } as const;

  test('the pane begins with the whole reason of a job that went wrong', () => {
    const area = { columns: 20, rows: 6 };
    const reason = 'preflight failed: worker "no-such-program" was not found on PATH';
    const pane = paneOf(job('a', { state: 'never-started', reason }), '1\n2\n3\n4\n', { ...area, rows: 8 });
    expect(pane.why.join('').replaceAll(' ', '')).toBe(reason.replaceAll(' ', ''));
    for (const line of pane.why) expect(columnsOf(line)).toBeLessThanOrEqual(20);
    expect(pane.why.length + pane.log.length).toBe(8);
    expect(paneOf(job('a', failed), '1\n2\n', area)).toEqual({ why: ['worker exited 3'], log: ['1', '2'] });
    expect(paneOf(job('a', { state: 'done', reason: 'worker exited 0' }), '1', area).why).toEqual([]);
  });

  test('the pane of a job that printed nothing says so', () => {
    const area = { columns: 40, rows: 6 };
    expect(paneOf(job('a', failed), '', area).log).toEqual(['It printed nothing.']);
    expect(paneOf(job('a'), '', area).log).toEqual(['No output yet.']);
    expect(paneOf(undefined, '', area)).toEqual({ why: [], log: [] });
  });

  test('a state has the word that it has everywhere, a job that never started no time', () => {
    const line = jobLine(job('a', { state: 'never-started', elapsed_secs: null, idle_secs: null }), {
      chosen: false,
      columns: 80,
      nowMs: 90_000,
      spark: '',
    });
    expect(line.word).toBe('never-started');
    expect(line.after).toMatch(/^ +-\s/);
  });

  test('the chosen job is always seen', () => {
    for (let at = 0; at < 50; at += 1) {
      const start = windowStart(at, 7, 50);
      expect(start).toBeLessThanOrEqual(at);
      expect(start + 7).toBeGreaterThan(at);
    }
  });

  test('a running job goes on between two looks', () => {
    const { after } = jobLine(job('a', { read_ms: 1000 }), {
      chosen: false,
      columns: 80,
      nowMs: 61_000,
      spark: '',
    });
    expect(after).toContain('1m10s');
  });
});

describe('spark line', () => {
  test('what a log had when it was first seen is no growth; silence is a dot', () => {
    const growth = new Growth({ stretchMs: 1000, count: 4 });
    growth.note(1_000_000, 0);
    expect(growth.line(0)).toBe('····');
    growth.note(1_000_100, 2000);
    expect(growth.line(2000)).toBe('···█');
    growth.note(1_000_101, 3000);
    expect(growth.line(3000)).toBe('··█▂');
    expect(growth.line(60_000)).toBe('····');
  });

  test('a log that was cut is no growth', () => {
    const growth = new Growth({ stretchMs: 1000, count: 2 });
    growth.note(100, 0);
    growth.note(0, 1000);
    growth.note(50, 1000);
    expect(growth.line(1000)).toBe('·█');
  });
});
