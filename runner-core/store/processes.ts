import type { JobProcesses } from '../platform/index.ts';
import { fileOf, jobIdOf, readMeta, readPid, startedAtMs } from './job-dir.ts';
import { lstatIfAny } from './owned-file.ts';

/** Everything the records tell of a job's processes: who supervises, and who works. */
export function processesOf(jobDir: string): JobProcesses {
  const meta = readMeta(jobDir);
  const pid = readPid(jobDir);
  const written = lstatIfAny(fileOf(jobDir, 'pid'))?.mtimeMs ?? Date.now();
  const supervisorPid = pid?.supervisor_pid ?? undefined;
  const workerPid = pid?.worker_pid ?? undefined;
  return {
    jobId: jobIdOf(jobDir),
    jobDir,
    logPath: fileOf(jobDir, 'log'),
    supervisor:
      supervisorPid === undefined
        ? undefined
        : { pid: supervisorPid, identity: pid?.supervisor_identity ?? undefined },
    worker:
      workerPid === undefined ? undefined : { pid: workerPid, identity: pid?.worker_identity ?? undefined },
    circumstances: {
      startedAfterMs: startedAtMs(jobDir, meta) ?? 0,
      startedBeforeMs: written,
      jobId: jobIdOf(jobDir),
      runId: meta?.run_id ?? undefined,
    },
    jobName: pid?.job_name ?? undefined,
  };
}
