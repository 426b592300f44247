import type { JobRow } from '../index.ts';
import { wentWrong } from '../lean.ts';

/** What a command leaves behind: bytes for stdout, lines for stderr, its exit code. */
export interface Answer {
  readonly stdout: string | Buffer;
  readonly stderr: readonly string[];
  readonly exitCode: number;
}

/** JSON as callers of the reference know it: a space after each separator, everything beyond ASCII escaped. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries.map(([key, item]) => `${spacedJson(key)}: ${spacedJson(item)}`).join(', ')}}`;
  }
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Text out of a record, which may be anybody's: nothing in it begins a row or a cell, steers a terminal or reorders what stands
 * there. Escaped as JSON does, and not by what shows text to people, which takes time to load.
 */
function inCell(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => spacedJson(character).slice(1, -1));
}

/** How a job stands, in as few words as there are. */
export type Standing = Pick<JobRow, 'ref' | 'job_dir' | 'state'>;

/** One word for a single job; a line of reference and state for each of several. */
export function renderStates(rows: readonly Standing[], options: { json: boolean; asked: number }): string {
  if (options.json) {
    return `${spacedJson(rows.map(({ ref, job_dir, state }) => ({ ref, job_dir, state })))}\n`;
  }
  if (options.asked === 1) return rows.map((row) => `${row.state}\n`).join('');
  return rows.map((row) => `${row.ref}\t${row.state}\n`).join('');
}

export interface DeadlineAnswer {
  readonly jobs: readonly JobRow[];
  readonly all_settled: boolean;
  readonly deadline_passed: boolean | null;
  readonly secs_left: number | null;
}

/** A row for each job, then one line that says what to do next. */
export function renderDeadline(answer: DeadlineAnswer, options: { json: boolean }): string {
  const jobs = answer.jobs.map((row) => ({
    ref: row.ref,
    job_dir: row.job_dir,
    label: row.label ?? '-',
    state: row.state,
    elapsed_secs: secondsSince(row.started_at),
    reason: deadlineReason(row),
  }));
  const { all_settled, deadline_passed, secs_left } = answer;
  if (options.json) return `${spacedJson({ jobs, all_settled, deadline_passed, secs_left })}\n`;
  const rows = jobs.map((job) =>
    [
      inCell(job.label),
      job.ref,
      job.state,
      job.elapsed_secs === null ? '?' : `${job.elapsed_secs}s`,
      ...(job.reason ? [inCell(job.reason)] : []),
    ].join('\t'),
  );
  return [...rows, nextStep(answer), ''].join('\n');
}

/** Callers of the reference know one reason for whatever never started. */
function deadlineReason({ state, reason }: JobRow): string {
  if (state === 'never-started') return 'never started; no result';
  return wentWrong(state) ? reason : '';
}

/** Counted to now, also for a settled job, as the reference does. */
function secondsSince(startedAt: string | null): number | null {
  const started = Date.parse(startedAt ?? '');
  return Number.isNaN(started) ? null : Math.trunc((Date.now() - started) / 1000);
}

function nextStep({ jobs, deadline_passed, secs_left }: DeadlineAnswer): string {
  const running = jobs.filter((job) => job.state === 'running').map((job) => job.ref);
  if (running.length === 0) return 'all settled';
  if (deadline_passed) {
    return `deadline passed: reap ${running.join(' ')}, then wait once more; a job still running after that counts as timed out`;
  }
  return `waiting: ${running.length} of ${jobs.length} still running; ${secs_left}s left before the deadline`;
}

/** Newest first: id, state, age, label, what it belongs to. */
export function renderList(rows: readonly JobRow[], more: boolean): string {
  const cells = rows.map((row) => [
    row.job_id,
    row.state,
    row.elapsed_secs === null ? '-' : `${Math.round(row.elapsed_secs)}s`,
    inCell(row.label ?? '-'),
    inCell(`${row.skill ?? '?'}/${row.run_id ?? '?'}`),
  ]);
  const all = [['JOB', 'STATE', 'ELAPSED', 'LABEL', 'RUN'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...(more ? ['(more: raise --limit)'] : []), ''].join('\n');
}
