import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RunnerError } from '../errors.ts';
import { shaped } from '../job/shape.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { platform, type WaitingSupervisor } from '../platform/index.ts';
import { recordedState } from '../store/job-dir.ts';
import { acknowledgement, type SupervisorSpec } from './spec.ts';

declare const __VERSION__: string;

/** A supervisor under way: started before its job is ready, so that its own start costs the caller less. */
export type Detaching = Promise<WaitingSupervisor>;

/** For a caller that lives long: the file to run supervisors from, and one that was started in advance. */
let warm: { readonly entry: string; supervisor: Detaching | undefined } | undefined;

/** The next one is started when the answer to this start is out, so that the two do not share a processor. */
const REWARM_AFTER_MS = 20;

/** A supervisor run from `entry`, the file that runs supervisors: the warm one if there is one, else a new one. */
export function beginDetaching(entry: string): Detaching {
  const supervisor = (warm?.entry === entry ? warm.supervisor : undefined) ?? startFrom(entry);
  if (warm) warm.supervisor = undefined;
  // Told to whoever instructs it.
  supervisor.catch(() => undefined);
  return supervisor;
}

/**
 * The program that is nothing but a supervisor takes less time and memory than the whole one. Where that was copied alone
 * it does the same.
 */
function startFrom(entry: string): Detaching {
  const lean = join(dirname(entry), `supervisor-${__VERSION__}.cjs`);
  return platform.startSupervisor(existsSync(lean) ? lean : entry);
}

/** Keeps one supervisor started in advance. Returns what lets it go. */
export function keepSupervisorWarm(entry: string): () => void {
  warm = { entry, supervisor: undefined };
  warmUp();
  return () => {
    if (warm?.supervisor) dismiss(warm.supervisor);
    warm = undefined;
  };
}

function warmUp(): void {
  if (!warm) return;
  if (warm.supervisor) return;
  warm.supervisor = startFrom(warm.entry);
  warm.supervisor.then(
    (supervisor) => supervisor.rehearse?.(),
    // Told to whoever instructs it: a machine that cannot start one must not end the server at once.
    () => undefined,
  );
}

/**
 * Gives a supervisor its job and returns once it has acknowledged: from then on the job needs nobody else. Throws
 * `system` if it did not; then no supervisor is left.
 */
export async function detach(detaching: Detaching, entry: string, spec: SupervisorSpec): Promise<void> {
  const order = JSON.stringify(spec);
  const line = await detaching
    .then((supervisor) => supervisor.instruct(order, ACK_BUDGET_MS))
    .catch(async (error: unknown) => {
      // One that died while it waited has done nothing yet: the first thing that any leaves is the `pid` record.
      if (spec.mode !== 'start' || recordedState(spec.jobDir) !== 'never-started') throw error;
      return (await startFrom(entry)).instruct(order, ACK_BUDGET_MS);
    });
  if (warm) setTimeout(warmUp, REWARM_AFTER_MS).unref();
  const answer = shaped(acknowledgement, JSON.parse(line));
  if (!answer?.ok)
    throw new RunnerError('system', answer?.problem ?? `the supervisor answered ${line.trim()}`);
}

/** Lets a supervisor go that turned out not to be needed. */
export function dismiss(detaching: Detaching): void {
  void detaching.then(
    (supervisor) => supervisor.dismiss(),
    () => undefined,
  );
}
