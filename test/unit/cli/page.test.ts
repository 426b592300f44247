import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { pageOf } from '../../../runner-core/cli/page/page.tsx';
import { barOf, scaleOf, ticksOf } from '../../../runner-core/cli/page/timeline.ts';
import type { ReportRow } from '../../../runner-core/index.ts';
import { jobRow } from './job-row.ts';

const NOW = Date.parse('2026-11-30T12:10:00Z');

function row(name: string, fields: Partial<ReportRow> = {}): ReportRow {
  return {
    ...jobRow(name),
    state: 'done',
    reason: 'worker exited 0',
    elapsed_secs: 60,
    idle_secs: null,
    exit_code: 0,
    log_bytes: 3,
    argv: ['/bin/true'],
    cwd: '/work',
    client: 'cli',
    ended_at: '2026-11-30T12:01:00Z',
    last_output_at: '2026-11-30T12:00:59Z',
    hard_secs: 1230,
    silences: [],
    log_tail: 'hi',
    ...fields,
  };
}

const page = (...jobs: ReportRow[]): string =>
  pageOf({ generated_at: new Date(NOW).toISOString(), jobs, more: false });

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\u001b[31m\u0000';

describe('the page', () => {
  test('escapes whatever a job may say, wherever it says it', () => {
    const html = page(
      row('x', {
        label: HOSTILE,
        skill: HOSTILE,
        run_id: HOSTILE,
        reason: HOSTILE,
        argv: [HOSTILE],
        cwd: HOSTILE,
        result_path: HOSTILE,
        signal: HOSTILE,
        log_tail: HOSTILE,
        job_id: HOSTILE,
      }),
    );
    expect(html).not.toMatch(/<script|<img/i);
    expect(html).toContain('&lt;script>');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
    expect(html).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test('allows no script, no network, and no style but its own', () => {
    const html = page(row('x'));
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
    const digest = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(`default-src 'none'; style-src 'sha256-${digest}'`);
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|https?:/);
  });

  test('of no jobs says so', () => {
    expect(page()).toContain('No jobs found.');
  });

  test('links lead to where they say', () => {
    const html = page(row('a'), row('b'), row('c', { run_id: 'other' }));
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
  });
});

describe('the time line', () => {
  test('goes from the first start to the last end', () => {
    const jobs = [row('a'), row('b', { started_at: '2026-11-30T12:01:00Z', elapsed_secs: 60 })];
    const scale = scaleOf(jobs, NOW);
    expect(scale).toEqual({ startMs: Date.parse('2026-11-30T12:00:00Z'), lengthMs: 120_000 });
    expect(jobs.map((job) => scale && barOf(job, scale, NOW))).toMatchObject([
      { from: 0, to: 0.5 },
      { from: 0.5, to: 1 },
    ]);
  });

  test('a running job lasts until now, and its silence is seen', () => {
    const job = row('a', { state: 'running', last_output_at: '2026-11-30T12:05:00Z' });
    const scale = scaleOf([job], NOW);
    expect(scale && barOf(job, scale, NOW)).toMatchObject({
      from: 0,
      to: 1,
      silences: [{ from: 0.5, to: 1 }],
    });
  });

  test('recorded silences are seen, short ones are not', () => {
    const job = row('a', {
      elapsed_secs: 100,
      last_output_at: '2026-11-30T12:01:39Z',
      silences: [
        [10, 50],
        [60, 61],
      ],
    });
    const scale = scaleOf([job], NOW);
    expect(scale && barOf(job, scale, NOW)?.silences).toEqual([{ from: 0.1, to: 0.5 }]);
  });

  test('the deadline is marked where it falls within', () => {
    const hit = row('a', { state: 'timeout', hard_secs: 60, elapsed_secs: 60.2 });
    const scale = scaleOf([hit], NOW);
    expect(scale && barOf(hit, scale, NOW)?.deadline).toBeCloseTo(60 / 60.2);
    expect(scale && barOf(row('b'), scale, NOW)?.deadline).toBeUndefined();
  });

  test('a job that never started has no bar', () => {
    const job = row('a', { state: 'never-started' });
    const scale = scaleOf([job], NOW);
    expect(scale && barOf(job, scale, NOW)).toBeUndefined();
    expect(scaleOf([row('b', { started_at: null })], NOW)).toBeUndefined();
  });

  test.for([1, 10, 59, 600, 7200, 86_400, 2_000_000])('%i seconds have a handful of round ticks', (secs) => {
    const ticks = ticksOf({ startMs: 0, lengthMs: secs * 1000 });
    expect(ticks[0]).toBe(0);
    expect(ticks.length).toBeGreaterThanOrEqual(1);
    expect(ticks.length).toBeLessThanOrEqual(6);
  });
});
