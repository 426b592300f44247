/** What Slurm's programs are called with, and what their answers mean. Pure. Tried with 22.05. */
import type { SlurmOptions } from './slurm-options.ts';

export interface Submission {
  readonly jobId: string;
  readonly jobDir: string;
  readonly timeLimitSecs: number;
  readonly options: SlurmOptions;
}

/** In the comment of every job of ours, before its directory. */
const COMMENT_PREFIX = 'peer-jobs ';

/**
 * sbatch(1). Every value is in one word with its option, so that none is taken for another one. The environment that is
 * exported is the one that sbatch itself is given, which is next to none: NIL and NONE have the node ask for a login
 * environment first, which takes seconds.
 */
export function sbatchArgs({ jobId, jobDir, timeLimitSecs, options }: Submission): string[] {
  const asked: [string, string | number | undefined][] = [
    ['partition', options.partition],
    ['mem', options.memory_mb === undefined ? undefined : `${options.memory_mb}M`],
    ['cpus-per-task', options.cpus],
    ['gpus', options.gpus],
    ['constraint', options.constraint],
  ];
  return [
    '--parsable',
    '--no-requeue',
    `--job-name=${jobId}`,
    // One line in the rows of squeue.
    `--comment=${COMMENT_PREFIX}${jobDir.replaceAll(/\p{Cc}/gu, '?')}`,
    '--export=ALL',
    `--chdir=${jobDir}`,
    `--output=${literal(`${jobDir}/engine.log`)}`,
    '--open-mode=append',
    '--nodes=1',
    '--ntasks=1',
    `--time=${Math.ceil(timeLimitSecs / 60)}`,
    ...asked.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
  ];
}

/** A path where `%` begins what sbatch fills in, unless it is doubled. One with a backslash cannot be named at all. */
function literal(path: string): string {
  return path.includes('\\') ? '/dev/null' : path.replaceAll('%', '%%');
}

/** The batch script: all that Slurm keeps of a job. `mark` is a variable that tells a supervisor. */
export function batchScript(program: readonly string[], mark: string): string {
  return `#!/bin/sh\n${mark}=1 exec ${program.map(shellWord).join(' ')}\n`;
}

function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The id in the answer of `sbatch --parsable`: `ID`, or `ID;CLUSTER`. */
export function submittedId(stdout: string): string | undefined {
  // A plugin of the site may have had its say before.
  return /^(\d+)(?:;\S*)?$/.exec(stdout.trim().split('\n').at(-1) ?? '')?.[1];
}

/** What sbatch says where the job may have got through all the same, or may yet. */
const UNCERTAIN =
  /timed? ?out|Zero Bytes|Unexpected message|Communication|send\/recv|Connection reset|temporarily unable|Unable to read/i;

/** Whether a failed sbatch has certainly not submitted anything. A controller that refused the connection got nothing. */
export function isRefusal(stderr: string): boolean {
  if (/connect failure|Connection refused/i.test(stderr)) return true;
  return /\berror\b/i.test(stderr) && !UNCERTAIN.test(stderr);
}

/** The last thing that a program of Slurm complained of, without its own name. */
export function complaint(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return (lines.at(-1) ?? '').replace(/^\w+: (error|fatal): /, '').trim();
}

const ROW_FORMAT = '%i|%T|%j|%r|%k';

/** squeue(1): one job, or all of a user's, also those that have ended as long as Slurm remembers them. */
export function squeueArgs(which: { id: string } | { uid: number; name?: string }): string[] {
  const wanted =
    'id' in which
      ? [`--jobs=${which.id}`]
      : [`--user=${which.uid}`, ...(which.name === undefined ? [] : [`--name=${which.name}`])];
  return ['--noheader', '--states=all', `--format=${ROW_FORMAT}`, ...wanted];
}

export interface QueueRow {
  readonly id: string;
  /** `PENDING`, `RUNNING`, `NODE_FAIL`, … */
  readonly state: string;
  readonly name: string;
  /** Why it waits, or why it ended; '' for none. */
  readonly reason: string;
}

const ROW = /^(\d+)\|([A-Z_]+)\|([^|]*)\|([^|]*)\|(.*)$/;

/** Whether all of an answer are rows, below a cluster's name: what is none may have been the one that is missed. */
export function isQueue(stdout: string): boolean {
  return stdout.split('\n').every((line) => line === '' || line.startsWith('CLUSTER: ') || ROW.test(line));
}

/** The rows of jobs that are ours: their comment says so. */
export function parseQueue(stdout: string): QueueRow[] {
  return stdout.split('\n').flatMap((line) => {
    const match = ROW.exec(line);
    if (!match) return [];
    const [, id = '', state = '', name = '', reason = '', comment = ''] = match;
    if (!comment.startsWith(COMMENT_PREFIX)) return [];
    return [{ id, state, name, reason: reason === 'None' ? '' : reason }];
  });
}

/** Whether squeue says that there is no such job: it was purged (MinJobAge), or never was. */
export function isUnknownJob(stderr: string): boolean {
  return /Invalid job id/i.test(stderr);
}

export interface ClusterConfig {
  readonly cluster: string | null;
  /** Between TERM and KILL. */
  readonly killWaitSecs: number | null;
  readonly proctrack: string | null;
  readonly version: string | null;
}

/** `scontrol show config`. */
export function parseConfig(stdout: string): ClusterConfig {
  const read = (key: string): string | null =>
    new RegExp(`^${key}\\s*=\\s*(.*?)\\s*$`, 'im').exec(stdout)?.[1] ?? null;
  const killWait = /^(\d+)/.exec(read('KillWait') ?? '')?.[1];
  return {
    cluster: read('ClusterName'),
    killWaitSecs: killWait === undefined ? null : Number(killWait),
    proctrack: read('ProctrackType'),
    version: read('SLURM_VERSION'),
  };
}

/** `sacct`, for a job that squeue knows no more: its state in accounting, if there is any. */
export function sacctArgs(id: string): string[] {
  return [`--jobs=${id}`, '--noheader', '--parsable2', '--allocations', '--format=JobName,State'];
}

export function parseAccounting(stdout: string, jobId: string): string | undefined {
  const row = stdout.split('\n').find((line) => line.startsWith(`${jobId}|`));
  return row?.slice(jobId.length + 1).trim() || undefined;
}

/** sinfo(1): a line for each state in which nodes are. */
export const SINFO_ARGS: readonly string[] = ['--noheader', '--format=%T|%D'];

export interface NodeCount {
  /** `idle`, `mixed`, `down*`, … */
  readonly state: string;
  readonly count: number;
}

/** A node that is in several partitions is counted in each. */
export function parseNodes(stdout: string): NodeCount[] {
  return stdout.split('\n').flatMap((line) => {
    const [, state, count] = /^([^|]+)\|(\d+)\s*$/.exec(line) ?? [];
    return state === undefined ? [] : [{ state, count: Number(count) }];
  });
}
