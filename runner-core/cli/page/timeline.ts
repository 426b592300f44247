/** Where a job lies on the line of its run's time. Shares of the whole line, 0 to 1. */
import type { ReportRow } from '../../index.ts';

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Bar extends Stretch {
  readonly silences: readonly Stretch[];
  readonly deadline: number | undefined;
}

export interface Scale {
  readonly startMs: number;
  readonly lengthMs: number;
}

/** A silence is worth showing from this share of a job's time on, and from this many seconds. */
const SILENCE_SHARE = 0.05;
const SILENCE_SECS = 5;

function momentOf(text: string | null): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function startOf(job: ReportRow): number | undefined {
  return momentOf(job.started_at);
}

function endOf(job: ReportRow, nowMs: number): number {
  const started = startOf(job) ?? nowMs;
  if (job.state === 'running') return Math.max(started, nowMs);
  // The time on the monotonic clock is finer than the records' whole seconds.
  if (job.elapsed_secs !== null) return started + job.elapsed_secs * 1000;
  return Math.max(started, momentOf(job.ended_at) ?? started);
}

/** From the first start to the last end; `undefined` where no job ever started. */
export function scaleOf(jobs: readonly ReportRow[], nowMs: number): Scale | undefined {
  const starts = jobs.flatMap((job) => startOf(job) ?? []);
  if (starts.length === 0) return undefined;
  const startMs = Math.min(...starts);
  const endMs = Math.max(...jobs.map((job) => (startOf(job) === undefined ? startMs : endOf(job, nowMs))));
  return { startMs, lengthMs: Math.max(1000, endMs - startMs) };
}

export function barOf(job: ReportRow, scale: Scale, nowMs: number): Bar | undefined {
  const started = startOf(job);
  if (started === undefined || job.state === 'never-started' || job.state === 'unreadable') return undefined;
  const share = (ms: number): number => Math.min(1, Math.max(0, (ms - scale.startMs) / scale.lengthMs));
  const ended = endOf(job, nowMs);
  const deadline = job.hard_secs === null ? undefined : started + job.hard_secs * 1000;
  return {
    from: share(started),
    to: share(ended),
    silences: silencesOf(job, started, ended).map(([from, to]) => ({ from: share(from), to: share(to) })),
    // A second of grace: a job that its deadline ended has ended a little after it.
    deadline:
      deadline === undefined || deadline > scale.startMs + scale.lengthMs + 1000
        ? undefined
        : share(deadline),
  };
}

/** The recorded ones, and that since the last output, in epoch ms. */
function silencesOf(job: ReportRow, startedMs: number, endedMs: number): [number, number][] {
  const last = Math.max(startedMs, momentOf(job.last_output_at) ?? startedMs);
  const all: [number, number][] = [
    ...job.silences.map(([from, to]): [number, number] => [
      startedMs + from * 1000,
      Math.min(endedMs, startedMs + to * 1000),
    ]),
    [last, endedMs],
  ];
  const shortest = Math.max(SILENCE_SECS * 1000, (endedMs - startedMs) * SILENCE_SHARE);
  return all.filter(([from, to]) => to - from >= shortest);
}

const STEPS_SECS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200];
const DAY_SECS = 86_400;

/** Some three to six round moments, in seconds after the scale's start. */
export function ticksOf({ lengthMs }: Scale): number[] {
  const secs = lengthMs / 1000;
  const wanted = secs / 5;
  const step = STEPS_SECS.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY_SECS) * DAY_SECS;
  const ticks: number[] = [];
  for (let tick = 0; tick <= secs * 0.97; tick += step) ticks.push(tick);
  return ticks;
}
