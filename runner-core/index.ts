/** The only public surface of the core. */
export { EXIT_CODES, type FailureKind, messageOf, RunnerError } from './errors.ts';
export { decimalOf } from './job/decimal.ts';
export { isJobId } from './job/id.ts';
export { JOB_STATES, type JobState, wentWrong } from './job/state.ts';
export { JOB_ID_ENV, NODE_PROGRAM_ENV, ROOT_ENV, WORK_RUNS_ROOT_ENV } from './limits.ts';
export { lastLine, logTail } from './operations/excerpt.ts';
export { expectationOf, givenText } from './operations/expectation.ts';
export { type FullRow, type JobFilter, type JobRow, jobFilter } from './operations/fields.ts';
export { type Watching, watchJob } from './operations/job-watch.ts';
export { list } from './operations/list.ts';
export { log } from './operations/log.ts';
export type { LogStream } from './operations/log-stream.ts';
export type { Annotations, Caller, Operation } from './operations/operation.ts';
export { readLogFile, readOutcomeFile } from './operations/read-files.ts';
export { reap } from './operations/reap.ts';
export type { RemovedRow } from './operations/remove.ts';
export { readArtifact, result } from './operations/result.ts';
export type { Roster, RosterJob } from './operations/roster.ts';
export type { Report, ReportRow } from './operations/run-report.ts';
export { start } from './operations/start.ts';
export { status } from './operations/status.ts';
export { wait } from './operations/wait.ts';
export { workingDirectory } from './platform/working-directory.ts';
export { keepSupervisorWarm } from './supervisor/detach.ts';

/** What only people ask for: loaded when it is asked for, so that a `status` does not wait for it. */
export const forPeople = {
  show: async () => (await import('./operations/show.ts')).show,
  remove: async () => (await import('./operations/remove.ts')).remove,
  prune: async () => (await import('./operations/prune.ts')).prune,
  doctor: async () => (await import('./operations/doctor.ts')).doctor,
  report: async () => (await import('./operations/run-report.ts')).report,
  openLog: async () => (await import('./operations/log-stream.ts')).openLog,
  openRoster: async () => (await import('./operations/roster.ts')).openRoster,
  variables: async () => (await import('./variables.ts')).VARIABLES,
};
