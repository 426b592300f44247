import { type JobProcesses, platform } from '../platform/index.ts';
import { processesOf } from '../store/processes.ts';

/** With the living supervisor of a job whose `pid` record is torn or gone, if there is one. */
export async function withSupervisor(job: JobProcesses): Promise<JobProcesses> {
  return job.supervisor ? job : { ...job, supervisor: await platform.findSupervisor(job.logPath) };
}

/** What the records tell of a job's processes, and its living worker where they do not tell that. */
export async function jobWithWorker(jobDir: string): Promise<JobProcesses> {
  const job = processesOf(jobDir);
  return job.worker ? job : { ...job, worker: await platform.findWorker(job) };
}
