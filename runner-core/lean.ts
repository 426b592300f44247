/**
 * What the commands that programs call most take of the core. Each call is a process of its own, so nothing is loaded with
 * it that they do not use, and no schema above all.
 */
export { settle } from './engine/index.ts';
export { RunnerError } from './errors.ts';
export { wentWrong } from './job/state.ts';
export { WAIT_DEFAULT_SECS } from './limits.ts';
export { awaitJobs } from './operations/await-jobs.ts';
export { findJobs } from './operations/find-jobs.ts';
export { type Caller, waitSecs } from './operations/operation.ts';
export type { StartInput } from './operations/start-input.ts';
export { startJob } from './operations/start-job.ts';
export { planFor } from './operations/start-plan.ts';
export { workingDirectory } from './platform/working-directory.ts';
export { jobIdOf } from './store/job-dir.ts';
