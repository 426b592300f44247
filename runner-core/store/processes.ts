import type { MetaRecord } from '../job/records.ts';
import type { Circumstances, JobProcesses } from '../platform/index.ts';
import { fileOf, jobIdOf, readMeta, readPid, startedAtMs } from './job-dir.ts';
import { lstatIfAny } from './owned-file.ts';

/** Everything the records tell of a job's processes: who supervises, and who works. */
export function processesOf(jobDir: string): JobProcesses {
  const pid = readPid(jobDir);
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
    circumstances: circumstancesOf(jobDir),
    jobName: pid?.job_name ?? undefined,
  };
}

/** Only asked for where an identity is missing: not read before. */
function circumstancesOf(jobDir: string): Circumstances {
  let read: { meta: MetaRecord | undefined } | undefined;
  const meta = (): MetaRecord | undefined => {
    read ??= { meta: readMeta(jobDir) };
    return read.meta;
  };
  return {
    get startedAfterMs() {
      return startedAtMs(jobDir, meta()) ?? 0;
    },
    get startedBeforeMs() {
      return lstatIfAny(fileOf(jobDir, 'pid'))?.mtimeMs ?? Date.now();
    },
    jobId: jobIdOf(jobDir),
    get runId() {
      return meta()?.run_id ?? undefined;
    },
  };
}
