import { RunnerError } from '../errors.ts';
import { platform } from '../platform/index.ts';
import { fileOf, readMeta, readPid, startedAtMs } from '../store/job-dir.ts';
import { currentLease, takeLease } from '../store/lease.ts';
import { replaceFile } from '../store/owned-file.ts';
import { monotonicAt } from './clock.ts';
import { ownHolder, supervisorFields } from './identity.ts';
import type { AdoptSpec } from './spec.ts';
import type { Supervised } from './supervise.ts';
import { jobWithWorker } from './whole-job.ts';

/** Takes over a living worker whose supervisor is gone. Throws `system` if another adopter was faster. */
export async function adopt(spec: AdoptSpec): Promise<Supervised> {
  const { jobDir } = spec;
  const { worker, circumstances } = await jobWithWorker(jobDir);
  const lease = currentLease(jobDir);
  if (!worker || lease.number !== spec.lease || !takeLease(jobDir, lease, await ownHolder())) {
    throw new RunnerError('system', 'another supervisor has taken this job over');
  }
  const at = await platform.whereabouts(worker.pid, worker.identity, circumstances);
  // A worker of another pid namespace has another number here, and is recorded under it from now on.
  const pid = at.state === 'alive' ? at.pid : worker.pid;
  const identity = at.state === 'alive' ? await platform.identify(pid) : worker.identity;
  const before = readPid(jobDir);
  const boot = await platform.boot();
  const started = before?.boot === boot ? (before.started_monotonic_ms ?? undefined) : undefined;
  const startedMs = started ?? monotonicAt(startedAtMs(jobDir, readMeta(jobDir)) ?? Date.now());
  const record = {
    ...before,
    ...(await supervisorFields()),
    worker_pid: pid,
    worker_identity: identity,
    started_monotonic_ms: startedMs,
  };
  replaceFile(fileOf(jobDir, 'pid'), `${JSON.stringify(record)}\n`, { durable: false });
  return {
    jobDir,
    startedMs,
    role: 'adopter',
    worker: {
      pid,
      identity,
      ended: platform.awaitEnd(pid, identity, circumstances).then(() => ({ kind: 'lost' })),
    },
  };
}
