import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../errors.ts';
import type { Ending } from '../job/classify.ts';
import { formatMoment } from '../job/id.ts';
import type { MetaRecord, OutcomeRecord } from '../job/records.ts';
import type { Verdict } from '../job/state.ts';
import { RESULT_MAX_BYTES } from '../limits.ts';
import { fileOf, isOwnJobDir, readMeta, startedAtMs } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { publish } from '../store/publish.ts';
import { digestOf, inspectResult } from '../store/result-file.ts';

/** What is known of an end besides the verdict. */
export interface EndFacts {
  readonly ending: Ending | undefined;
  /** Seconds on the monotonic clock that the worker had. */
  readonly wallSecs: number | undefined;
  readonly classifiedBy: 'supervisor' | 'adopter' | 'caller';
  /** The record of the start, for whoever has read it already. */
  readonly meta?: MetaRecord | undefined;
  /** Stretches without output, in seconds after the start. */
  readonly silences?: [number, number][];
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}

async function outcomeOf(jobDir: string, verdict: Verdict, facts: EndFacts): Promise<OutcomeRecord> {
  const meta = facts.meta ?? readMeta(jobDir);
  const cap = meta?.supervision?.result_max ?? RESULT_MAX_BYTES.fallback;
  const result = inspectResult(meta, cap);
  const endedMs = Date.now();
  const { ending } = facts;
  return {
    schema_version: 1,
    state: verdict.state,
    reason: verdict.reason,
    exit_code: ending?.kind === 'exited' ? ending.code : null,
    signal: ending?.kind === 'signaled' ? signalName(ending.signal) : null,
    started_at: meta?.started_at ?? null,
    ended_at: formatMoment(new Date(endedMs)),
    wall_secs: facts.wallSecs ?? secsSince(startedAtMs(jobDir, meta), endedMs),
    log_bytes: lstatIfAny(fileOf(jobDir, 'log'))?.size ?? null,
    result_bytes: result.kind === 'present' ? result.bytes : null,
    result_sha256:
      result.kind === 'present' && meta?.result_path
        ? ((await digestOf(meta.result_path, cap)) ?? null)
        : null,
    classified_by: facts.classifiedBy,
    ...(facts.silences?.length ? { silences: facts.silences } : {}),
  };
}

function secsSince(startedMs: number | undefined, endedMs: number): number | null {
  return startedMs === undefined ? null : Math.max(0, (endedMs - startedMs) / 1000);
}

/** Publishes the end of a job now; false where another record stood already. Throws what the disk says. */
export async function finish(
  jobDir: string,
  verdict: Verdict,
  facts: EndFacts,
  options = { durable: true },
): Promise<boolean> {
  return publish(jobDir, verdict, await outcomeOf(jobDir, verdict, facts), options);
}

const RETRY_PAUSES_MS = [50, 200, 1000, 5000, 15_000, 40_000];

/** Publishes with patience: a disk that refuses may have room a moment later. Gives up with the directory. */
export async function finishPatiently(jobDir: string, verdict: Verdict, facts: EndFacts): Promise<void> {
  for (const pause of [...RETRY_PAUSES_MS, undefined]) {
    try {
      await finish(jobDir, verdict, facts);
      return;
    } catch (error) {
      if (!isOwnJobDir(jobDir) || errnoOf(error) === undefined) throw error;
    }
    // After the last try the next question about the job settles it from the evidence.
    if (pause !== undefined) await sleep(pause);
  }
}
