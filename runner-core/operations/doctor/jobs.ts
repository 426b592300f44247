/** What dead jobs left behind. Looks only: nothing is settled, ended or removed. */
import { dirname, join } from 'node:path';
import { isElsewhere, isLive } from '../../engine/index.ts';
import { isTerminal } from '../../job/state.ts';
import { JOB_ID_ENV } from '../../limits.ts';
import { platform } from '../../platform/index.ts';
import { jobsIn, runFolders } from '../../store/find.ts';
import { isOwnJobDir, jobIdOf, recordedState } from '../../store/job-dir.ts';
import { currentLease } from '../../store/lease.ts';
import { lstatIfAny, namesIn } from '../../store/owned-file.ts';
import { processesOf } from '../../store/processes.ts';
import { bytesIn, lastTouchedMs } from '../../store/remove-job.ts';
import { supervisorOf } from '../../supervisor/settle.ts';
import type { Caller } from '../operation.ts';
import { type Finding, inWordsOf, note, ok, problem, warning } from './finding.ts';

/** Each look for survivors reads the whole process table, so only the newest settled jobs are asked for theirs. */
const SURVIVORS_ASKED = 20;
const OLD_MS = 7 * 86_400_000;
const LITTER_MS = 3_600_000;
const NAMED = 5;

function some(jobs: readonly string[]): string {
  const more = jobs.length > NAMED ? ` and ${jobs.length - NAMED} more` : '';
  return jobs.slice(0, NAMED).join(' ') + more;
}

export async function jobFindings(caller: Caller): Promise<Finding[]> {
  const runs = [...runFolders(caller.env)];
  const jobs = runs.flatMap((run) => jobsIn(run.path));
  const states = jobs.map((jobDir) => ({ jobDir, state: recordedState(jobDir) }));
  const inState = (wanted: string): string[] =>
    states.filter(({ state }) => state === wanted).map(({ jobDir }) => jobDir);
  const dead: string[] = [];
  const unwatched: string[] = [];
  const stopped: { jobDir: string; pid: number }[] = [];
  for (const jobDir of inState('running')) {
    if (isElsewhere(jobDir)) {
      if (!(await isLive(jobDir))) dead.push(jobDir);
      continue;
    }
    const supervisor = await supervisorOf(processesOf(jobDir), currentLease(jobDir));
    if (supervisor.state === 'alive' && supervisor.stopped) stopped.push({ jobDir, pid: supervisor.pid });
    if (supervisor.state !== 'gone') continue;
    ((await isLive(jobDir)) ? unwatched : dead).push(jobDir);
  }
  const settled = states.filter(({ state }) => isTerminal(state)).map(({ jobDir }) => jobDir);
  const survivors = await survivorsOf(settled);
  return [
    ok(
      'jobs',
      `${jobs.length} jobs in ${runs.length} runs, ${inState('running').length - dead.length} running`,
    ),
    ...dead.map((jobDir) =>
      problem(
        'dead job',
        `${jobIdOf(jobDir)}: supervisor and worker are gone and no end is recorded`,
        `peer-jobs status ${jobDir} records the end from what is left.`,
      ),
    ),
    ...unwatched.map((jobDir) =>
      problem(
        'unsupervised job',
        `${jobIdOf(jobDir)} runs and its supervisor is gone: no window holds`,
        `peer-jobs status ${jobDir} gives it a new one; peer-jobs reap ${jobDir} ends it.`,
      ),
    ),
    ...stopped.map(({ jobDir, pid }) =>
      problem(
        'stopped supervisor',
        `${jobIdOf(jobDir)} runs and its supervisor is stopped (SIGSTOP): no window holds`,
        `kill -CONT ${pid} lets it go on; peer-jobs reap ${jobDir} ends the job.`,
      ),
    ),
    ...survivors.map((jobDir) =>
      problem(
        'survivors',
        `${jobIdOf(jobDir)} has settled, and a process of it lives`,
        inWordsOf({
          posix: `Find it by its mark and kill it: grep -lz ${JOB_ID_ENV}=${jobIdOf(jobDir)} /proc/[0-9]*/environ`,
          windows: `taskkill /T /F /PID with the worker_pid of ${join(jobDir, 'pid')}, if that is still the worker.`,
        }),
      ),
    ),
    ...inState('unreadable').map(unreadable),
    ...unstarted(inState('never-started')),
    ...litter(runs.map((run) => run.path)),
    ...old(settled),
  ];
}

async function survivorsOf(settled: readonly string[]): Promise<string[]> {
  const newest = [...settled].sort((a, b) => (jobIdOf(a) < jobIdOf(b) ? 1 : -1)).slice(0, SURVIVORS_ASKED);
  const found: string[] = [];
  for (const jobDir of newest) {
    if ((await platform.treeLives(processesOf(jobDir))) === 'yes') found.push(jobDir);
  }
  return found;
}

function unreadable(jobDir: string): Finding {
  const own = isOwnJobDir(jobDir);
  return problem(
    'unreadable job',
    own
      ? `the status of ${jobDir} is empty, torn or not a plain file`
      : `${jobDir} is not a directory of yours`,
    own
      ? `peer-jobs reap ${jobDir} ends what may still run, then peer-jobs remove ${jobDir}.`
      : `Find out who put it there; remove it by hand if it is nothing of yours.`,
  );
}

function unstarted(jobs: readonly string[]): Finding[] {
  if (jobs.length === 0) return [];
  return [
    note(
      'never started',
      `${jobs.length} jobs never started: ${some(jobs.map(jobIdOf))}`,
      'peer-jobs prune --state never-started --older-than 1h',
    ),
  ];
}

/** Folders that a sweep or a removal had moved aside when it was killed. */
function litter(runs: readonly string[]): Finding[] {
  const folders = new Set([...runs.map((run) => dirname(run)), ...runs.map((run) => join(run, 'jobs'))]);
  const found = [...folders].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => /^\.(sweep|remove)-/.test(name))
      .map((name) => join(folder, name))
      .filter((path) => Date.now() - (lstatIfAny(path)?.ctimeMs ?? Date.now()) > LITTER_MS),
  );
  if (found.length === 0) return [];
  return [
    warning('litter', `${found.length} half-removed folders: ${some(found)}`, `Remove them: ${some(found)}`),
  ];
}

function old(settled: readonly string[]): Finding[] {
  const jobs = settled.filter((jobDir) => Date.now() - lastTouchedMs(jobDir) > OLD_MS);
  if (jobs.length === 0) return [];
  const mib = (jobs.reduce((sum, jobDir) => sum + bytesIn(jobDir), 0) / 1024 / 1024).toFixed(1);
  return [
    note(
      'old jobs',
      `${jobs.length} jobs older than 7 days hold ${mib} MiB`,
      'peer-jobs prune --older-than 7d',
    ),
  ];
}
