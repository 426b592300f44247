import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { engineNamed } from '../engine/index.ts';
import type { Starting, StartOrder } from '../engine/port.ts';
import { errnoOf, messageOf, RunnerError } from '../errors.ts';
import { formatMoment } from '../job/id.ts';
import type { Supervision } from '../job/windows.ts';
import { META_READ_CAP } from '../limits.ts';
import { platform, type ResolvedWorker } from '../platform/index.ts';
import { claimJobDir } from '../store/claim.ts';
import { rememberPlace } from '../store/find.ts';
import { fileOf, jobIdOf } from '../store/job-dir.ts';
import { createExclusive, removeEmptyDir } from '../store/owned-file.ts';
import { baselineOf } from '../store/result-file.ts';
import type { Caller } from './operation.ts';
import { firstWithKey, giveUpStart, yieldToFirst } from './start-key.ts';
import type { Plan } from './start-plan.ts';
import { sweepBeside } from './start-sweep.ts';

export interface Started {
  readonly jobDir: string;
  readonly reused: boolean;
  /** The windows in force for a new job. */
  readonly supervision: Supervision;
}

/** Starts a planned job, or gives the one that has its key already. */
export async function startJob(plan: Plan, caller: Caller): Promise<Started> {
  const first = await firstWithKey(plan);
  const { request, env, cwd } = plan;
  if (first !== undefined) return { jobDir: first, reused: true, supervision: plan.supervision };
  const engine = await engineNamed(plan.engine);
  const starting = await engine.begin({
    entry: caller.entry,
    env: caller.env,
    supervision: plan.supervision,
    slurm: request.slurm,
  });
  const { supervision } = starting;
  try {
    const jobDir = await claimJobDir(plan.place, plan.runId);
    rememberPlace(jobDir);
    const argv = prepare(jobDir, plan, starting, caller);
    const winner = await yieldToFirst(plan, jobDir);
    if (winner === undefined) {
      // Old runs are swept while that goes on.
      const sweeping = sweepBeside(plan);
      await handOver(starting, { jobDir, argv, cwd, env, keyed: plan.key !== undefined });
      await sweeping;
      return { jobDir, reused: false, supervision };
    }
    starting.dismiss();
    return { jobDir: winner, reused: true, supervision };
  } catch (error) {
    starting.dismiss();
    throw error;
  }
}

async function handOver(starting: Starting, order: StartOrder): Promise<void> {
  try {
    await starting.handOver(order);
  } catch (error) {
    giveUpStart(order.jobDir);
    throw error;
  }
}

/** Writes `meta.json`, finds the program, makes the log: all that must be there before a supervisor is. */
function prepare(jobDir: string, plan: Plan, starting: Starting, caller: Caller): string[] {
  const { request, cwd } = plan;
  // Empty is none, as where a variable of the caller's was not set.
  const resultPath = request.result_path ? resolve(cwd, request.result_path) : null;
  const [program = '', ...rest] = request.argv;
  const asNamed = program.includes('/') ? resolve(cwd, program) : program;
  let worker: ResolvedWorker = { argv: [asNamed, ...rest], record: {} };
  let problem: unknown;
  try {
    requireDirectory(cwd);
    worker = platform.resolveWorker(request.argv, cwd, plan.env);
  } catch (error) {
    problem = error;
  }
  const meta = {
    schema_version: 1,
    job_id: jobIdOf(jobDir),
    skill: plan.skill,
    run_id: plan.runId,
    label: request.label ?? null,
    input_digest: request.input_digest ?? null,
    started_at: formatMoment(new Date()),
    worker_argv: worker.argv,
    ...worker.record,
    result_path: resultPath,
    result_format: request.result_format ?? null,
    result_baseline: resultPath === null ? null : (baselineOf(resultPath, starting.elsewhere) ?? null),
    sweep_enabled: request.sweep !== false,
    supervision: starting.supervision,
    cwd,
    key: request.key ?? null,
    client: caller.client,
    ...(problem === undefined ? {} : { preflight: messageOf(problem) }),
  };
  const cannot = (error: unknown): RunnerError =>
    new RunnerError(
      'system',
      `cannot write the records of job ${jobIdOf(jobDir)} in ${dirname(jobDir)}: ${messageOf(error)}; make room there and start again`,
      { cause: error },
    );
  const record = `${JSON.stringify(meta, null, 2)}\n`;
  if (Buffer.byteLength(record) > META_READ_CAP) {
    removeEmptyDir(jobDir);
    throw new RunnerError(
      'invalid',
      `the start is too long to be recorded: ${Buffer.byteLength(record)} of at most ${META_READ_CAP} bytes; give long arguments in a file`,
    );
  }
  try {
    createExclusive(fileOf(jobDir, 'meta'), record);
  } catch (error) {
    removeEmptyDir(jobDir);
    throw cannot(error);
  }
  if (problem !== undefined) {
    throw new RunnerError(
      'preflight',
      `preflight failed for job ${jobIdOf(jobDir)}: ${messageOf(problem)}; nothing was detached (job left never-started at ${jobDir})`,
      { cause: problem },
    );
  }
  try {
    createExclusive(fileOf(jobDir, 'log'), '');
  } catch (error) {
    throw cannot(error);
  }
  return worker.argv;
}

function requireDirectory(cwd: string): void {
  let problem: string | undefined;
  try {
    if (!statSync(cwd).isDirectory()) problem = 'is not a directory';
  } catch (error) {
    problem = `cannot be entered (${errnoOf(error) ?? messageOf(error)})`;
  }
  if (problem !== undefined)
    throw new RunnerError('preflight', `working directory ${cwd} ${problem}; give an existing one`);
}
