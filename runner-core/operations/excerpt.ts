/** The little of a job's output that saves its caller another question. */
import { isTerminal, type JobState } from '../job/state.ts';
import { fileOf, readMeta, startedAtMs } from '../store/job-dir.ts';
import { lstatIfAny, readOwnedEnd, readOwnedPage } from '../store/owned-file.ts';
import type { JobRow } from './fields.ts';
import type { FoundJob } from './find-jobs.ts';
import { pageFrom, readable } from './page.ts';

const LAST_LINE_READ_BYTES = 2048;
const LAST_LINE_MAX_CHARS = 200;
/** In characters of JSON: all excerpts of one answer together; one alone. */
const TOTAL_CHARS = 24 * 1024;
const ONE_MAX_CHARS = 8 * 1024;
const ONE_MIN_CHARS = 256;
/** What the rest of a job's row takes, with paths of usual length. */
const ROW_CHARS = 700;

export interface Excerpt {
  readonly last_line: string | null;
  readonly log_tail: string | null;
  readonly result_text: string | null;
  readonly result_bytes: number | null;
}

/** What a row tells of its job already. */
type Excerpted = Pick<JobRow, 'job_dir' | 'state' | 'result_path' | 'log_bytes'>;

const NOTHING: Excerpt = { last_line: null, log_tail: null, result_text: null, result_bytes: null };

/** The room for the excerpt of each settled job, in characters of JSON. */
export function excerptChars(answer: {
  rows: number;
  settled: number;
  answerChars: number | undefined;
}): number {
  const left = (answer.answerChars ?? Number.POSITIVE_INFINITY) - answer.rows * ROW_CHARS;
  const each = Math.floor(Math.min(TOTAL_CHARS, left) / Math.max(1, answer.settled));
  return Math.min(ONE_MAX_CHARS, Math.max(ONE_MIN_CHARS, each));
}

/** The last line of a running job; the result of a done one as far as it is text; else the end of the log. */
export function excerptOf({ job_dir, state, result_path, log_bytes }: Excerpted, maxChars: number): Excerpt {
  if (state === 'running') return { ...NOTHING, last_line: log_bytes ? lastLine(job_dir) : null };
  if (!isTerminal(state)) return NOTHING;
  const result = state === 'done' && result_path ? resultHead(result_path, maxChars) : undefined;
  return { ...NOTHING, ...(result ?? { log_tail: log_bytes ? logTail(job_dir, maxChars) : null }) };
}

function resultHead(
  path: string,
  maxChars: number,
): { result_text: string | null; result_bytes: number } | undefined {
  try {
    const { data, totalBytes } = readOwnedPage(path, 0, maxChars);
    return { result_text: pageFrom(data, 0, totalBytes, maxChars).text ?? null, result_bytes: totalBytes };
  } catch {
    // Moved or replaced since: job_result tells why.
    return undefined;
  }
}

export function logTail(jobDir: string, maxChars: number): string | null {
  const text = endOf(fileOf(jobDir, 'log'), maxChars);
  const shown = text.slice(-lengthOfEnd(text, maxChars));
  return text === '' ? null : shown;
}

/** How much of the end of `text` JSON writes in `maxChars` characters, from the start of a line where there is one. */
function lengthOfEnd(text: string, maxChars: number): number {
  const chars = JSON.stringify(text).length;
  if (chars <= maxChars) return text.length;
  const end = text.slice(-Math.max(1, Math.floor((text.length * maxChars) / chars) - 1));
  const whole = end.slice(end.indexOf('\n') + 1);
  return lengthOfEnd(whole === '' ? end : whole, maxChars);
}

/** The last line that a job printed, as a person would see it. */
export function lastLine(jobDir: string): string | null {
  const lines = endOf(fileOf(jobDir, 'log'), LAST_LINE_READ_BYTES).split(/[\r\n]+/);
  const line = lines.findLast((text) => text.trim() !== '')?.trim();
  return line === undefined ? null : line.slice(-LAST_LINE_MAX_CHARS);
}

/** The end of a log as a person would see it, from the start of a line where there is one. */
function endOf(path: string, maxBytes: number): string {
  try {
    const { data, whole } = readOwnedEnd(path, maxBytes);
    const text = withoutEscapes(readable(data).text);
    const firstBreak = whole ? -1 : text.indexOf('\n');
    // A last line that is longer than all that was read is shown without its beginning.
    return text.slice(firstBreak + 1).trimEnd() || text.trimEnd();
  } catch {
    // Refused or gone: an excerpt is a courtesy, job_log tells why.
    return '';
  }
}

/** Without what only moves a cursor or colours a terminal (ECMA-48 control sequences). */
function withoutEscapes(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replaceAll(/\u001b(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(\u0007|\u001b\\)|[@-Z\\-_])/g, '');
}

/** One line on how a wait stands: how many have settled, and the latest word of one that runs. */
export function standingOf(jobs: readonly (FoundJob & { state: JobState })[]): string {
  const running = jobs.filter((job) => job.state === 'running');
  const settled = jobs.length - running.length;
  const latest = running
    .map((job) => ({ ...job, atMs: lstatIfAny(fileOf(job.jobDir, 'log'))?.mtimeMs ?? 0 }))
    .sort((a, b) => b.atMs - a.atMs)[0];
  const counts = jobs.length === 1 ? '' : `${settled} of ${jobs.length} settled`;
  if (!latest) return counts;
  const meta = readMeta(latest.jobDir);
  const started = startedAtMs(latest.jobDir, meta);
  const secs = started === undefined ? '' : ` ${Math.max(0, Math.floor((Date.now() - started) / 1000))} s`;
  const line = lastLine(latest.jobDir);
  const word = `${meta?.label ?? 'job'} running${secs}${line === null ? '' : `: ${line}`}`;
  return counts === '' ? word : `${counts}; ${word}`;
}
