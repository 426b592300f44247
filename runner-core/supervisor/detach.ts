import { RunnerError } from '../errors.ts';
import { ACK_BUDGET_MS } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { jobIdOf } from '../store/job-dir.ts';
import { acknowledgement, type SupervisorSpec } from './spec.ts';

/**
 * Runs a detached supervisor for the job and returns once it has acknowledged: from then on the job needs nobody else.
 * `entry` is the file that runs supervisors. Throws `system` if it did not; then no supervisor is left.
 */
export async function detachSupervisor(entry: string, spec: SupervisorSpec): Promise<void> {
  const line = await platform.detachSupervisor({
    entry,
    jobId: jobIdOf(spec.jobDir),
    spec: JSON.stringify(spec),
    budgetMs: ACK_BUDGET_MS,
  });
  const answer = acknowledgement.parse(JSON.parse(line));
  if (!answer.ok) throw new RunnerError('system', answer.problem);
}
