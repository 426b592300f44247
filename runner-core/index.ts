/** The only public surface of the core. */
export { EXIT_CODES, type FailureKind, messageOf, RunnerError } from './errors.ts';
export { JOB_STATES, type JobState } from './job/state.ts';
export { JOB_ID_ENV, ROOT_ENV, WORK_RUNS_ROOT_ENV } from './limits.ts';
export type { FullRow, JobRow } from './operations/fields.ts';
export { type Watching, watchJob } from './operations/job-watch.ts';
export { list } from './operations/list.ts';
export { log } from './operations/log.ts';
export type { Annotations, Caller, Operation } from './operations/operation.ts';
export { readLogFile, readOutcomeFile } from './operations/read-files.ts';
export { reap } from './operations/reap.ts';
export { readArtifact, result } from './operations/result.ts';
export { start } from './operations/start.ts';
export { status } from './operations/status.ts';
export { wait } from './operations/wait.ts';
export { keepSupervisorWarm } from './supervisor/detach.ts';
