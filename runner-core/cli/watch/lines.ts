/** The view as lines of text, each as wide as the terminal or narrower. */
import { type JobState, type RosterJob, wentWrong } from '../../index.ts';
import { SIGNS } from '../colours.ts';
import { lastWords } from '../last-words.ts';
import { cutTo, duration, padTo, visibleLine, visibleLines, wrapTo } from '../text.ts';
import { isNarrowed, type ViewState } from './view-state.ts';

export interface Area {
  readonly columns: number;
  readonly rows: number;
}

/** How the lines of the screen are shared out: a head, the jobs, the chosen job's name, its log, a foot. */
export interface Plan {
  readonly jobRows: number;
  readonly logRows: number;
}

const FIXED_ROWS = 4;

export function planFor({ rows }: Area, jobs: number): Plan {
  const free = Math.max(2, rows - FIXED_ROWS);
  // The log is what is read: the jobs take half at most.
  const jobRows = Math.max(1, Math.min(jobs, Math.floor(free / 2)));
  return { jobRows, logRows: free - jobRows };
}

/** The first job to show, so that the chosen one is seen. */
export function windowStart(chosen: number, jobRows: number, count: number): number {
  const middle = chosen - Math.floor(jobRows / 2);
  return Math.min(Math.max(0, middle), Math.max(0, count - jobRows));
}

export interface JobLine {
  readonly jobDir: string;
  readonly state: JobState;
  readonly chosen: boolean;
  /** In this order on the line; the state is coloured. */
  readonly before: string;
  readonly word: string;
  readonly after: string;
}

const WORD_COLUMNS = 13;
/** Of the line of how much a log grew, where there is room for all of it. */
export const SPARK_COLUMNS = 12;
const WORDS: Partial<Record<JobState, string>> = { 'died-without-result': 'died' };

function elapsed(job: RosterJob, nowMs: number): string {
  const since = job.state === 'running' ? (nowMs - job.read_ms) / 1000 : 0;
  return duration(job.elapsed_secs === null ? null : job.elapsed_secs + since);
}

function idle(job: RosterJob, nowMs: number): string {
  if (job.idle_secs === null) return '';
  return duration(job.idle_secs + Math.max(0, (nowMs - job.read_ms) / 1000));
}

export const HEAD_TITLES = ['LABEL', 'STATE', 'TIME', 'IDLE', 'OUTPUT', 'LAST LINE'] as const;

interface Widths {
  readonly label: number;
  readonly spark: number;
  readonly rest: number;
}

function widthsFor(columns: number): Widths {
  const label = Math.min(24, Math.max(10, Math.floor(columns / 5)));
  const spark = columns >= 100 ? SPARK_COLUMNS : columns >= 70 ? 8 : 0;
  // Mark, sign and gap, label, word, time, idle, spark line, each with its gap.
  const rest = columns - 3 - label - 2 - WORD_COLUMNS - 2 - 6 - 2 - 6 - 2 - (spark === 0 ? 0 : spark + 2);
  return { label, spark, rest: Math.max(0, rest) };
}

export function headLine(columns: number): string {
  const { label, spark, rest } = widthsFor(columns);
  const [labelTitle, state, time, quiet, output, last] = HEAD_TITLES;
  return cutTo(
    `   ${padTo(labelTitle, label)}  ${padTo(state, WORD_COLUMNS)}  ${time.padStart(6)}  ${quiet.padStart(6)}  ${spark === 0 ? '' : `${padTo(output, spark)}  `}${cutTo(last, rest)}`,
    columns,
  );
}

export function jobLine(
  job: RosterJob,
  options: { chosen: boolean; columns: number; nowMs: number; spark: string },
): JobLine {
  const { label, spark, rest } = widthsFor(options.columns);
  const last = lastWords(job, job.last_line);
  const name = visibleLine(job.label ?? job.job_id.slice(-8));
  return {
    jobDir: job.job_dir,
    state: job.state,
    chosen: options.chosen,
    before: `${options.chosen ? '›' : ' '}${SIGNS[job.state]} ${padTo(name, label)}  `,
    word: padTo(WORDS[job.state] ?? job.state, WORD_COLUMNS),
    after: `  ${elapsed(job, options.nowMs).padStart(6)}  ${idle(job, options.nowMs).padStart(6)}  ${spark === 0 ? '' : `${padTo(job.state === 'running' ? options.spark.slice(-spark) : '', spark)}  `}${cutTo(last, rest)}`,
  };
}

/** What is told of the chosen job: why it went wrong, whole, then the last lines of its log that fit, long ones cut. */
export interface Pane {
  readonly why: readonly string[];
  readonly log: readonly string[];
}

export function paneOf(job: RosterJob | undefined, tail: string, { columns, rows }: Area): Pane {
  if (!job) return { why: [], log: [] };
  const why =
    wentWrong(job.state) && job.reason !== ''
      ? wrapTo(visibleLine(job.reason), columns).slice(0, Math.ceil(rows / 2))
      : [];
  const log = visibleLines(tail)
    .slice(-Math.max(1, rows - why.length))
    .map((line) => cutTo(line, columns));
  if (log.length === 0 && job.state !== 'unreadable')
    log.push(job.state === 'running' ? 'No output yet.' : 'It printed nothing.');
  return { why, log: log.slice(0, rows - why.length) };
}

export function titleLine(
  jobs: readonly RosterJob[],
  shown: number,
  state: ViewState,
  columns: number,
): string {
  const count = (wanted: (job: RosterJob) => boolean): number => jobs.filter(wanted).length;
  const running = count((job) => job.state === 'running');
  const done = count((job) => job.state === 'done');
  const filter = [state.group === 'all' ? '' : state.group, state.text === '' ? '' : `“${state.text}”`]
    .filter(Boolean)
    .join(', ');
  const narrowed = filter === '' ? '' : `  showing ${shown}: ${filter}`;
  return cutTo(
    `peer-jobs  ${SIGNS.running} ${running} running  ${SIGNS.done} ${done} done  ${SIGNS.failed} ${jobs.length - running - done} other${narrowed}`,
    columns,
  );
}

const KEYS = '↑↓ choose  / filter  s states  r reap  ? keys  q quit';

export function footLine(state: ViewState, chosen: RosterJob | undefined, columns: number): string {
  switch (state.mode) {
    case 'typing':
      return cutTo(`filter: ${visibleLine(state.text)}▏  enter keeps it, esc clears it`, columns);
    case 'asking':
      return cutTo(
        `Reap ${visibleLine(chosen?.label ?? chosen?.job_id ?? '')} and its whole tree? y / n`,
        columns,
      );
    case 'help':
      return cutTo('any key goes back', columns);
    case 'looking':
      return cutTo(state.message || `${isNarrowed(state) ? 'esc clear filter  ' : ''}${KEYS}`, columns);
  }
}

export const HELP: readonly string[] = [
  '↑ ↓ k j        choose a job',
  'PgUp PgDn g G  further',
  '/              filter by label, id, skill, run or state',
  's              all, running, not done, done',
  'esc            show all jobs again',
  'r              reap the chosen job, after a question',
  '?              these keys',
  'q              leave; the jobs go on',
  '',
  'OUTPUT is how much the log grew, two seconds a column, the newest last.',
];
