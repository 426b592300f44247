import { RunnerError } from '../errors.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { platform, type WaitingSupervisor } from '../platform/index.ts';
import { recordedState } from '../store/job-dir.ts';
import { acknowledgement, type SupervisorSpec } from './spec.ts';

/** A supervisor under way: started before its job is ready, so that its own start costs the caller less. */
export type Detaching = Promise<WaitingSupervisor>;

let warm: { readonly entry: string; readonly supervisor: Detaching } | undefined;

/** A supervisor run from `entry`, the file that runs supervisors: the warm one if there is one, else a new one. */
export function beginDetaching(entry: string): Detaching {
  const supervisor = warm?.entry === entry ? warm.supervisor : platform.startSupervisor(entry);
  if (warm?.supervisor === supervisor) warm = { entry, supervisor: platform.startSupervisor(entry) };
  // Told to whoever instructs it.
  supervisor.catch(() => undefined);
  return supervisor;
}

/** Keeps one supervisor started in advance, for a caller that lives long. Returns what lets it go. */
export function keepSupervisorWarm(entry: string): () => void {
  warm ??= { entry, supervisor: platform.startSupervisor(entry) };
  return () => {
    void warm?.supervisor.then(
      ({ dismiss }) => dismiss(),
      () => undefined,
    );
    warm = undefined;
  };
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
      return (await platform.startSupervisor(entry)).instruct(order, ACK_BUDGET_MS);
    });
  const answer = acknowledgement.parse(JSON.parse(line));
  if (!answer.ok) throw new RunnerError('system', answer.problem);
}

/** Lets a supervisor go that turned out not to be needed. */
export function dismiss(detaching: Detaching): void {
  void detaching.then(
    (supervisor) => supervisor.dismiss(),
    () => undefined,
  );
}
