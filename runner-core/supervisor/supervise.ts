import { lstatSync, type Stats } from 'node:fs';
import type { Ending } from '../job/classify.ts';
import { begin, decide, type JobEvent, nextLookMs, type Phase } from '../job/decide.ts';
import type { MetaRecord } from '../job/records.ts';
import { Silences } from '../job/silences.ts';
import type { Verdict } from '../job/state.ts';
import { type Supervision, supervisionFor } from '../job/windows.ts';
import { LEFTOVER_GRACE_MS } from '../limits.ts';
import { platform, type RunningWorker } from '../platform/index.ts';
import { fileOf, readMeta } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { processesOf } from '../store/processes.ts';
import { inspectResult } from '../store/result-file.ts';
import { monotonicMs } from './clock.ts';
import { type EndFacts, finishPatiently } from './finish.ts';
import { LogFile } from './log-file.ts';

/** A worker in hand. `startedMs` on the monotonic clock. */
export interface Supervised {
  readonly jobDir: string;
  readonly worker: RunningWorker;
  readonly startedMs: number;
  /** `adopter`: the worker is another process's child, so its exit status is not ours to see. */
  readonly role: 'supervisor' | 'adopter';
  /** What else is known of a verdict, before it is published. */
  readonly explain?: (verdict: Verdict) => Verdict;
}

/** A log that goes on growing while its worker is torn down is cut back this often. */
const CUT_EVERY_MS = 25;

/** Watches a worker to its end, ends its tree, and publishes the record. */
export async function supervise(
  job: Supervised,
  publishing: (...end: Parameters<typeof finishPatiently>) => Promise<unknown> = finishPatiently,
): Promise<void> {
  const meta = readMeta(job.jobDir);
  const supervision = meta?.supervision ?? supervisionFor({}, meta?.skill ?? '');
  const log = new LogFile(fileOf(job.jobDir, 'log'));
  let ending: Ending | undefined;
  void job.worker.ended.then((how) => {
    ending = how;
  });
  const silences = new Silences(job.startedMs);
  const { phase, ignoreRequests } = await watchToTheEnd(job, meta, supervision, log, silences);
  const graceMs = supervision.grace * 1000;
  const leftovers =
    job.role === 'supervisor' && platform.knowsNoDescendants()
      ? []
      : await endTree(job, log, supervision.log_max, ending ? Math.min(graceMs, LEFTOVER_GRACE_MS) : graceMs);
  log.cut(supervision.log_max);
  log.close();
  if (phase.name !== 'ending') return ignoreRequests();
  const facts: EndFacts = {
    ending,
    wallSecs: (monotonicMs() - job.startedMs) / 1000,
    classifiedBy: job.role,
    meta,
    silences: silences.list(),
  };
  const verdict = job.explain?.(phase.verdict) ?? phase.verdict;
  try {
    await publishing(job.jobDir, naming(leftovers, verdict), facts);
  } finally {
    ignoreRequests();
  }
}

async function endTree(
  job: Supervised,
  log: LogFile,
  logMaxBytes: number,
  graceMs: number,
): Promise<string[]> {
  const cutting = setInterval(() => log.cut(logMaxBytes), CUT_EVERY_MS);
  const leftovers = await platform.tearDown({
    // Whatever became of the record: whom we watch we know ourselves.
    processes: { ...processesOf(job.jobDir), worker: job.worker },
    graceMs,
    own: job.role === 'supervisor',
  });
  clearInterval(cutting);
  return leftovers;
}

function naming(leftovers: readonly string[], verdict: Verdict): Verdict {
  if (leftovers.length === 0) return verdict;
  return { ...verdict, reason: `${verdict.reason}; could not end process ${leftovers.join(', ')}` };
}

/**
 * Turns exits, timers, growth and signals into events until the phase is no longer `running`. Requests to reap are heard, and
 * end nothing further, until they are to be ignored.
 */
function watchToTheEnd(
  job: Supervised,
  meta: MetaRecord | undefined,
  supervision: Supervision,
  log: LogFile,
  silences: Silences,
): Promise<{ phase: Phase; ignoreRequests: () => void }> {
  const { jobDir, worker } = job;
  const home = lstatSync(jobDir);
  let phase = begin(job.startedMs);
  let timer: NodeJS.Timeout | undefined;

  return new Promise((resolve) => {
    const apply = (event: JobEvent): void => {
      if (phase.name !== 'running') return;
      const { lastGrowthMs } = phase;
      phase = decide(supervision, phase, event);
      clearTimeout(timer);
      if (phase.name === 'running') {
        silences.note(lastGrowthMs, phase.lastGrowthMs);
        timer = setTimeout(look, Math.max(0, nextLookMs(supervision, phase) - monotonicMs()));
        return;
      }
      stopWatching();
      resolve({ phase, ignoreRequests });
    };
    const look = (): number => {
      const measured = log.measure();
      apply(
        isStill(jobDir, home)
          ? { type: 'log-measured', ...measured, nowMs: monotonicMs() }
          : { type: 'directory-lost' },
      );
      return supervision.log_max - measured.bytes;
    };
    const stopWatching = log.watch(look);
    void worker.ended.then((ending) => {
      // Told after the verdict, as an adopter is that had to end it: it counts no more, and the log may be closed by then.
      if (phase.name !== 'running') return;
      apply({
        type: 'worker-ended',
        ending,
        result: inspectResult(meta, supervision.result_max),
        logBytes: log.measure().bytes,
      });
    });
    const ignoreRequests = platform.onReapRequest(jobDir, () => {
      void platform
        .whereabouts(worker.pid, worker.identity)
        .then((at) => apply({ type: 'reap-requested', workerLives: at.state !== 'gone' }));
    });
    look();
  });
}

function isStill(jobDir: string, home: Stats): boolean {
  const now = lstatIfAny(jobDir);
  return now !== undefined && now.ino === home.ino && now.dev === home.dev;
}
