import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, messageOf, RunnerError } from '../errors.ts';
import { formatMoment, isSafeToken } from '../job/id.ts';
import { mayDisableIdle, type Supervision, supervisionFor } from '../job/windows.ts';
import { MAX_TOKEN_LENGTH, SWEEP_BUDGET_MS } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { claimJobDir } from '../store/claim.ts';
import { fileOf, jobIdOf, readMeta } from '../store/job-dir.ts';
import { createExclusive, removeEmptyDir } from '../store/owned-file.ts';
import { baselineOf } from '../store/result-file.ts';
import { type Workplace, workplaceFor } from '../store/roots.ts';
import { sweepRuns } from '../store/sweep.ts';
import { detachSupervisor } from '../supervisor/detach.ts';
import { isLive, settle } from '../supervisor/settle.ts';
import { awaitJobs } from './await-jobs.ts';
import { jobRow, positiveBytes, positiveSeconds, seconds } from './fields.ts';
import { type Caller, defineOperation } from './operation.ts';
import { describeJob } from './report.ts';
import { firstWithKey, type KeyedStart, yieldToFirst } from './start-key.ts';

const token = (description: string) =>
  z.string().check(z.describe(`${description} Letters, digits, ".", "_" and "-".`));

const supervision = z.object({
  idle: z.nullable(z.number()),
  hard: z.number(),
  log_max: z.number(),
  result_max: z.number(),
  poll: z.number(),
  grace: z.number(),
});

const input = z.strictObject({
  argv: z
    .array(z.string())
    .check(
      z.minLength(1),
      z.describe(
        'The worker as an argument list, never a shell line; for shell syntax pass ["sh", "-c", "…"].',
      ),
    ),
  skill: z.optional(token('Who the job belongs to; groups runs.')),
  run_id: z.optional(token('Groups the jobs of one run.')),
  label: z.optional(token('A name to tell the job by.')),
  input_digest: z.optional(
    z.string().check(z.describe('Kept in the record, for the caller to recognise its input.')),
  ),
  result_path: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.describe(
          'The file that the worker will write: done then requires it fresh and non-empty. From cwd.',
        ),
      ),
  ),
  result_format: z.optional(
    z.enum(['json']).check(z.describe('What the result must be to count: a valid JSON document.')),
  ),
  cwd: z.optional(z.string().check(z.minLength(1), z.describe('Folder that the worker runs in.'))),
  env: z.optional(
    z
      .record(z.string(), z.nullable(z.string()))
      .check(
        z.describe(
          'Changes to the environment that the worker inherits; null unsets. Never written to disk.',
        ),
      ),
  ),
  key: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.describe('Start at most one job with this key in the run: a repeated start gives the first one.'),
      ),
  ),
  idle_secs: z.optional(
    seconds('End the job after so many seconds without output. 0 switches that off where the skill may.'),
  ),
  hard_secs: z.optional(positiveSeconds('End the job after so many seconds.')),
  log_max_bytes: z.optional(positiveBytes('End the job when its output exceeds this.')),
  result_max_bytes: z.optional(positiveBytes('A larger result is a failure.')),
  grace_secs: z.optional(positiveSeconds('Seconds between the polite end and the kill.')),
  sweep: z.optional(z.boolean().check(z.describe('Remove sibling runs older than a day (true).'))),
  wait_secs: z.optional(seconds('Wait so long for the job to settle before answering (0).')),
});
type StartInput = z.output<typeof input>;

export const start = defineOperation({
  name: 'start',
  tool: 'start_job',
  title: 'Start a job',
  description:
    'Starts a command as a detached, supervised job that outlives this call, this server and its client. With wait_secs it waits for the outcome in the same call. Otherwise call wait_jobs next, then job_result.',
  input,
  output: z.extend(jobRow, {
    reused: z.boolean().check(z.describe('True where a job with this key was there already.')),
    supervision,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  run: async (request, caller) => {
    const plan = planFor(request, caller);
    const { jobDir, reused } = await startJob(plan, caller);
    const job = { ref: jobIdOf(jobDir), jobDir };
    const [watched] = await awaitJobs(
      [job],
      { budgetMs: (request.wait_secs ?? 0) * 1000, until: 'all' },
      caller,
    );
    const inForce = readMeta(jobDir)?.supervision ?? plan.supervision;
    return { ...describeJob(job, watched?.state ?? 'running'), reused, supervision: inForce };
  },
});

interface Plan extends KeyedStart {
  readonly request: StartInput;
  readonly skill: string;
  readonly runId: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly supervision: Supervision;
  readonly place: Workplace;
}

/** Everything that can be judged before the disk is touched. */
function planFor(request: StartInput, caller: Caller): Plan {
  const skill = tokenOf('skill', request.skill ?? caller.defaults?.skill);
  const runId = tokenOf('run id', request.run_id ?? caller.defaults?.runId);
  if (request.label !== undefined) tokenOf('label', request.label);
  for (const argument of request.argv) refuseNul('argument', argument);
  for (const [name, value] of Object.entries(request.env ?? {})) {
    refuseNul('environment', `${name}${value ?? ''}`);
    if (name === '' || name.includes('=')) {
      throw new RunnerError(
        'invalid',
        `invalid environment name ${JSON.stringify(name)}: give NAME without "="`,
      );
    }
  }
  if (request.idle_secs === 0 && !mayDisableIdle(skill)) {
    throw new RunnerError(
      'invalid',
      `the idle window cannot be switched off for skill ${skill}; give the seconds that the worker may be silent`,
    );
  }
  const place = workplaceFor(caller.env, skill);
  return {
    request,
    skill,
    runId,
    cwd: resolve(caller.cwd, request.cwd ?? '.'),
    env: environmentOf(caller, request.env ?? {}),
    supervision: supervisionFor(caller.env, skill, request),
    place,
    key: request.key,
    runFolder: resolve(place.runsRoot, runId),
  };
}

function tokenOf(what: string, value: string | undefined): string {
  if (value === undefined) throw new RunnerError('usage', `no ${what} given`);
  if (isSafeToken(value)) return value;
  const shown = JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  throw new RunnerError(
    'invalid',
    `invalid ${what} ${shown}: use 1 to ${MAX_TOKEN_LENGTH} of A-Z a-z 0-9 . _ - and not only dots`,
  );
}

function refuseNul(what: string, value: string): void {
  if (value.includes('\0'))
    throw new RunnerError('invalid', `an ${what} holds a NUL character, which no program can be given`);
}

function environmentOf(
  caller: Caller,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = Object.entries({ ...caller.env, ...changes });
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function startJob(plan: Plan, caller: Caller): Promise<{ jobDir: string; reused: boolean }> {
  const first = await firstWithKey(plan);
  if (first !== undefined) return { jobDir: first, reused: true };
  const jobDir = claimJobDir(plan.place, plan.runId);
  const sweeping = plan.request.sweep === false ? undefined : sweep(plan);
  const argv = prepare(jobDir, plan, caller);
  const winner = await yieldToFirst(plan, jobDir);
  if (winner !== undefined) return { jobDir: winner, reused: true };
  try {
    const { cwd, env } = plan;
    await detachSupervisor(caller.entry, { mode: 'start', jobDir, argv, cwd, env });
  } catch (error) {
    // Whatever was begun is ended and recorded, so that nothing is left that nobody can reach.
    await settle(jobDir, caller.entry);
    throw new RunnerError(
      'system',
      `detach failed for job ${jobIdOf(jobDir)}: ${messageOf(error)}; nothing runs. Look into ${jobDir}, then start again`,
      { cause: error },
    );
  }
  await sweeping;
  return { jobDir, reused: false };
}

/** While the supervisor starts, the caller would only wait. */
function sweep(plan: Plan): Promise<void> {
  return sweepRuns(plan.place.runsRoot, plan.runId, performance.now() + SWEEP_BUDGET_MS, isLive);
}

/** Writes `meta.json`, finds the program, makes the log: all that must be there before a supervisor is. */
function prepare(jobDir: string, plan: Plan, caller: Caller): string[] {
  const { request, cwd } = plan;
  const resultPath = request.result_path === undefined ? null : resolve(cwd, request.result_path);
  let argv = [...request.argv];
  let problem: unknown;
  try {
    requireDirectory(cwd);
    argv = platform.resolveWorker(request.argv, cwd, plan.env);
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
    worker_argv: argv,
    result_path: resultPath,
    result_format: request.result_format ?? null,
    result_baseline: resultPath === null ? null : (baselineOf(resultPath) ?? null),
    sweep_enabled: request.sweep !== false,
    supervision: plan.supervision,
    cwd,
    key: request.key ?? null,
    client: caller.client,
  };
  const cannot = (error: unknown): RunnerError =>
    new RunnerError(
      'system',
      `cannot write the records of job ${jobIdOf(jobDir)} in ${dirname(jobDir)}: ${messageOf(error)}; make room there and start again`,
      { cause: error },
    );
  try {
    createExclusive(fileOf(jobDir, 'meta'), `${JSON.stringify(meta, null, 2)}\n`);
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
  return argv;
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
