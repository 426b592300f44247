/** Every environment variable that means something to a job runner of ours, and what: for manual and documents. */
import {
  ENGINE_ENV,
  GRACE_SECS,
  HARD_SECS,
  IDLE_SECS,
  JOB_ID_ENV,
  LOG_MAX_BYTES,
  NODE_PROGRAM_ENV,
  POLL_SECS,
  RESULT_MAX_BYTES,
  ROOT_ENV,
  WORK_RUNS_ROOT_ENV,
  WORKER_HARD_ENV,
} from './limits.ts';

export interface Variable {
  readonly name: string;
  /** What is in force without it, where that is a number. */
  readonly fallback?: number;
  readonly meaning: string;
}

const windows = [
  { limit: IDLE_SECS, meaning: 'Without output for so long: timeout.' },
  {
    limit: HARD_SECS,
    meaning: `Running for so long: timeout. Default: the larger of ${HARD_SECS.fallback} and ${WORKER_HARD_ENV} + 30.`,
  },
  { limit: LOG_MAX_BYTES, meaning: 'A longer out.log: failed, and the file is cut back.' },
  { limit: RESULT_MAX_BYTES, meaning: 'A larger result: failed; also the cap of a read.' },
  { limit: POLL_SECS, meaning: 'Recorded for readers of the reference. We go by events instead.' },
  { limit: GRACE_SECS, meaning: 'Seconds between TERM and KILL.' },
];

export const VARIABLES: readonly Variable[] = [
  { name: ROOT_ENV, meaning: 'The only base directory, in place of the defaults.' },
  {
    name: WORK_RUNS_ROOT_ENV,
    meaning: 'For the skill ce-work alone: the directory that holds its <run-id>/ folders.',
  },
  ...windows.map(({ limit, meaning }) => ({ name: limit.env, fallback: limit.fallback, meaning })),
  {
    name: WORKER_HARD_ENV,
    meaning: 'The cap that a worker sets itself. Where no hard window is set, ours is at least 30 s longer.',
  },
  {
    name: JOB_ID_ENV,
    meaning: 'Set for the worker: the id of its job. Its descendants are found by it too.',
  },
  {
    name: NODE_PROGRAM_ENV,
    meaning: 'The node that runs supervisors, where the calling program only contains one (Claude Desktop).',
  },
  {
    name: ENGINE_ENV,
    meaning: 'Where jobs run whose start names no engine: local, or slurm. Without it: local.',
  },
  { name: 'CE_PEER_BASH', meaning: 'Windows: the bash.exe of Git Bash to use.' },
  {
    name: 'CLAUDE_CODE_GIT_BASH_PATH',
    meaning: 'Windows: the same, as Claude Code names it; second choice.',
  },
  { name: 'NO_COLOR', meaning: 'Anything but empty: no colours, also on a terminal.' },
];
