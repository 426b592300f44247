import { isElsewhere } from '../engine/index.ts';
import { standingOf } from '../engine/standing.ts';
import { formatMoment } from '../job/id.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { fileOf, jobIdOf, readMeta, readOutcome, readReason, startedAtMs } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { excerptChars, excerptOf } from './excerpt.ts';
import type { FullRow, JobRow } from './fields.ts';
import type { FoundJob } from './find-jobs.ts';
import type { Caller } from './operation.ts';

/** Everything a caller is told of one job. Of an `unreadable` one nothing but its place is read. */
export function describeJob({ ref, jobDir }: FoundJob, state: JobState): JobRow {
  const trusted = state !== 'unreadable';
  const meta = trusted ? readMeta(jobDir) : undefined;
  const outcome = trusted && isTerminal(state) ? readOutcome(jobDir) : undefined;
  const log = trusted ? lstatIfAny(fileOf(jobDir, 'log')) : undefined;
  const engine = trusted && isElsewhere(jobDir) ? standingOf(jobDir, state === 'running') : null;
  const started = trusted ? startedAtMs(jobDir, meta) : undefined;
  const ended = isTerminal(state)
    ? (lstatIfAny(fileOf(jobDir, 'status'))?.mtimeMs ?? Date.now())
    : Date.now();
  return {
    ref,
    job_id: jobIdOf(jobDir),
    job_dir: jobDir,
    state,
    skill: meta?.skill ?? null,
    run_id: meta?.run_id ?? null,
    label: meta?.label ?? null,
    reason: reasonOf(jobDir, state, meta?.preflight),
    started_at: meta?.started_at ?? (started === undefined ? null : formatMoment(new Date(started))),
    elapsed_secs: state === 'never-started' ? null : elapsedSecs(outcome?.wall_secs, started, ended),
    idle_secs: state === 'running' && log && !engine?.queued ? roundMs(Date.now() - log.mtimeMs) : null,
    exit_code: outcome?.exit_code ?? null,
    signal: outcome?.signal ?? null,
    log_bytes: log?.size ?? null,
    log_path: fileOf(jobDir, 'log'),
    result_path: meta?.result_path ?? null,
    engine,
  };
}

function elapsedSecs(
  wallSecs: number | null | undefined,
  startedMs: number | undefined,
  endedMs: number,
): number | null {
  if (typeof wallSecs === 'number') return Number.isFinite(wallSecs * 1000) ? roundMs(wallSecs * 1000) : null;
  return startedMs === undefined ? null : roundMs(endedMs - startedMs);
}

/** Every job with the excerpt that saves its caller another question. */
export function describeFully(
  jobs: readonly (FoundJob & { state: JobState })[],
  { answerChars }: Pick<Caller, 'answerChars'>,
): FullRow[] {
  const settled = jobs.filter((job) => isTerminal(job.state)).length;
  const maxChars = excerptChars({ rows: jobs.length, settled, answerChars });
  return jobs.map((job) => {
    const row = describeJob(job, job.state);
    return { ...row, ...excerptOf(row, maxChars) };
  });
}

/** Seconds with milliseconds, never negative. */
function roundMs(ms: number): number {
  return Math.max(0, Math.round(ms) / 1000);
}

/** Of a job whose directory was removed while somebody asked. */
const RECORDS_GONE = 'its directory is gone, and with it what became of the job; it may still run';

function reasonOf(jobDir: string, state: JobState, preflight: string | null | undefined): string {
  if (state === 'unreadable') return 'state unreadable (ownership or corruption); no result';
  if (state === 'never-started') {
    if (!lstatIfAny(jobDir)) return RECORDS_GONE;
    return readReason(jobDir) || (preflight ? `preflight failed: ${preflight}` : 'never started; no result');
  }
  return state === 'running' ? '' : readReason(jobDir);
}
