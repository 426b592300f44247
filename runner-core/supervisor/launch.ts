import { closeSync, constants, openSync } from 'node:fs';
import { messageOf, RunnerError } from '../errors.ts';
import { platform, type RunningWorker } from '../platform/index.ts';
import { fileOf, jobIdOf } from '../store/job-dir.ts';
import { takeRightToStart } from '../store/lease.ts';
import { replaceFile } from '../store/owned-file.ts';
import { processesOf } from '../store/processes.ts';
import { releaseSpace, reserveSpace, rewritePid } from '../store/reserve.ts';
import { monotonicMs } from './clock.ts';
import { finish } from './finish.ts';
import { supervisorFields } from './identity.ts';
import type { StartSpec } from './spec.ts';
import type { Supervised } from './supervise.ts';

type Pids = Readonly<Record<string, unknown>>;

/**
 * Starts the worker of a new job. Undefined where it could not be launched, which is then on record.
 * Throws where the disk refuses what must be there first; then nothing runs. `asRecord` gives what `pid` is to say.
 */
export async function launch(
  spec: StartSpec,
  asRecord: (pids: Pids) => Pids = (pids) => pids,
): Promise<Supervised | undefined> {
  const { jobDir } = spec;
  const supervisor = await supervisorFields();
  if (spec.keyed && !takeRightToStart(jobDir))
    throw new RunnerError('system', 'another start has taken the key over meanwhile');
  try {
    reserveSpace(jobDir);
    // On disk before there is a worker: whoever finds us dead in between knows that one may have been started.
    replaceFile(fileOf(jobDir, 'pid'), lineOf(asRecord({ ...supervisor, worker_pid: null })), {
      durable: false,
    });
  } catch (error) {
    releaseSpace(jobDir);
    throw error;
  }
  const startedMs = monotonicMs();
  let worker: RunningWorker;
  try {
    worker = await spawnInto(fileOf(jobDir, 'log'), spec);
  } catch (error) {
    return giveUp(jobDir, `could not launch worker: ${messageOf(error)}`);
  }
  try {
    const pids = {
      ...supervisor,
      worker_pid: worker.pid,
      worker_identity: worker.identity,
      job_name: worker.jobName,
      started_monotonic_ms: startedMs,
    };
    rewritePid(jobDir, lineOf(asRecord(pids)));
  } catch (error) {
    await platform.tearDown({ processes: { ...processesOf(jobDir), worker }, graceMs: 0, own: true });
    return giveUp(jobDir, `could not record the worker: ${messageOf(error)}`);
  }
  return { jobDir, worker, startedMs, role: 'supervisor' };
}

function lineOf(record: Pids): string {
  return `${JSON.stringify(record)}\n`;
}

async function spawnInto(logPath: string, spec: StartSpec): Promise<RunningWorker> {
  const logFd = openSync(logPath, constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0));
  try {
    const { argv, cwd } = spec;
    const env = Object.fromEntries(spec.env);
    return await platform.spawnWorker({ argv, cwd, env, logFd, jobId: jobIdOf(spec.jobDir) });
  } finally {
    closeSync(logFd);
  }
}

async function giveUp(jobDir: string, reason: string): Promise<undefined> {
  await finish(
    jobDir,
    { state: 'failed', reason },
    { ending: undefined, wallSecs: 0, classifiedBy: 'supervisor' },
  );
  return undefined;
}
