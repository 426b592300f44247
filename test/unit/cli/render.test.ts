import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type DeadlineAnswer,
  renderDeadline,
  renderList,
  renderStates,
  spacedJson,
} from '../../../runner-core/cli/render.ts';
import type { JobRow } from '../../../runner-core/index.ts';
import { python } from '../../support/programs.ts';
import { jsonValues } from '../texts.ts';
import { jobRow } from './job-row.ts';

const row = (ref: string, more: Partial<JobRow> = {}): JobRow => ({ ...jobRow(ref), label: null, ...more });

describe('JSON with spaces', () => {
  test('parses back to the same value, for any value', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(JSON.parse(spacedJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  test('is one line of ASCII, for any value', () => {
    fc.assert(fc.property(jsonValues, (value) => /^[ -~]*$/.test(spacedJson(value))));
  });

  test('leaves out what is undefined, as JSON does', () => {
    expect(spacedJson({ a: undefined, b: null, c: [] })).toBe('{"b": null, "c": []}');
  });

  test('has a space after each separator, and none within empty brackets', () => {
    expect(spacedJson([{ ref: 'a', n: [1, 2.5, true], o: {} }, []])).toBe(
      '[{"ref": "a", "n": [1, 2.5, true], "o": {}}, []]',
    );
  });

  test('escapes as Python does: beyond ASCII, half a character, DEL, controls, and no slash', () => {
    expect(spacedJson('é€😀\u2028\ud800\u007f\u0000\n"\\/')).toBe(
      '"\\u00e9\\u20ac\\ud83d\\ude00\\u2028\\ud800\\u007f\\u0000\\n\\"\\\\/"',
    );
  });

  if (python === undefined) console.log('skipped: no python3 on this machine to compare JSON with');
  test.skipIf(python === undefined)('is what json.dumps of Python writes, byte for byte', () => {
    // Of floats only such as both write alike: Python has 1.0 and 1e-07 where JavaScript has 1 and 1e-7.
    const sample = fc.sample(jsonValues, 300).map((value) => JSON.parse(JSON.stringify(value)));
    const program = 'import json,sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)))';
    const theirs = execFileSync(python ?? '', ['-c', program], {
      input: sample.map((value) => `${JSON.stringify(value)}\n`).join(''),
      encoding: 'utf8',
    });
    expect(sample.map(spacedJson)).toEqual(theirs.trimEnd().split('\n'));
  });
});

describe('states', () => {
  const rows = [row('a'), row('b', { state: 'done' })];

  test('of one job that was asked for are one word', () => {
    expect(renderStates([row('a')], { json: false, asked: 1 })).toBe('running\n');
  });

  test('of several are a line of reference and state each, also when only one of them was found', () => {
    expect(renderStates(rows, { json: false, asked: 2 })).toBe('a\trunning\nb\tdone\n');
    expect(renderStates([row('a')], { json: false, asked: 2 })).toBe('a\trunning\n');
  });

  test('as JSON are a list of ref, job_dir and state, and no more', () => {
    expect(renderStates(rows, { json: true, asked: 2 })).toBe(
      '[{"ref": "a", "job_dir": "/jobs/a", "state": "running"}, {"ref": "b", "job_dir": "/jobs/b", "state": "done"}]\n',
    );
    expect(renderStates([row('a')], { json: true, asked: 1 })).toMatch(/^\[\{.*\}\]\n$/);
  });
});

test('a list is one line a job, whatever its record holds', () => {
  const hostile = row('a', { label: 'l\u001b]0;x\u0007\nb', skill: '\u2066s', run_id: 'r\r' });
  const [, line, ...rest] = renderList([hostile], false).split('\n');
  expect(line).toMatch(/ {2}l\\u001b\]0;x\\u0007\\nb {2}\\u2066s\/r\\r$/);
  expect(rest).toEqual(['']);
});

describe('the rows under a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 30, 12, 1, 30, 999) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const answer = (jobs: JobRow[], more: Partial<DeadlineAnswer> = {}): DeadlineAnswer => ({
    jobs,
    all_settled: jobs.every(({ state }) => state !== 'running'),
    deadline_passed: false,
    secs_left: 30,
    ...more,
  });
  const text = (value: DeadlineAnswer): string[] => renderDeadline(value, { json: false }).split('\n');

  test('are label, reference, state and whole seconds since the start, and end with what to do', () => {
    expect(
      text(answer([row('a', { label: 'l' }), row('b', { state: 'done', reason: 'worker exited 0' })])),
    ).toEqual([
      'l\ta\trunning\t90s',
      '-\tb\tdone\t90s',
      'waiting: 1 of 2 still running; 30s left before the deadline',
      '',
    ]);
  });

  test('tell the reason of a job that went wrong, and of none that is done or runs', () => {
    const jobs = [
      row('a', { state: 'failed', reason: 'worker exited 3' }),
      row('b', { state: 'done', reason: 'worker exited 0' }),
      row('c', { state: 'never-started', reason: 'never started; no result' }),
    ];
    expect(text(answer(jobs))).toEqual([
      '-\ta\tfailed\t90s\tworker exited 3',
      '-\tb\tdone\t90s',
      '-\tc\tnever-started\t90s\tnever started; no result',
      'all settled',
      '',
    ]);
  });

  test('are one line a job, whatever its record holds', () => {
    const hostile = row('a', {
      state: 'failed',
      label: 'l\n-\tb\tdone',
      reason: 'x\u001b[2J\u202ey\u2028\u0085',
    });
    expect(text(answer([hostile]))).toEqual([
      'l\\n-\\tb\\tdone\ta\tfailed\t90s\tx\\u001b[2J\\u202ey\\u2028\\u0085',
      'all settled',
      '',
    ]);
  });

  test('say which jobs to reap once the deadline has passed', () => {
    const lines = text(
      answer([row('a'), row('b', { state: 'done' }), row('c')], { deadline_passed: true, secs_left: 0 }),
    );
    expect(lines.at(-2)).toMatch(/^deadline passed: reap a c[ ,]/);
  });

  test('say all settled, whatever the clock says', () => {
    expect(text(answer([row('a', { state: 'timeout' })], { secs_left: 0 })).at(-2)).toBe('all settled');
  });

  test('have a question mark where no start is known', () => {
    expect(text(answer([row('a', { started_at: null })]))[0]).toBe('-\ta\trunning\t?');
    expect(text(answer([row('a', { started_at: 'yesterday' })]))[0]).toBe('-\ta\trunning\t?');
  });

  test('as JSON are the same facts', () => {
    expect(
      JSON.parse(
        renderDeadline(answer([row('a', { state: 'failed', reason: 'r', label: 'l' })]), { json: true }),
      ),
    ).toEqual({
      jobs: [{ ref: 'a', job_dir: '/jobs/a', label: 'l', state: 'failed', elapsed_secs: 90, reason: 'r' }],
      all_settled: true,
      deadline_passed: false,
      secs_left: 30,
    });
  });
});
