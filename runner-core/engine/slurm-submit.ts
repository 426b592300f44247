import { hostname } from 'node:os';
import { messageOf, RunnerError } from '../errors.ts';
import { formatMoment } from '../job/id.ts';
import type { EngineRecord } from '../job/records.ts';
import type { Supervision } from '../job/windows.ts';
import { ENGINE_SUBMIT_MS, SUPERVISOR_ENV } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { nodeProgram } from '../platform/node-program.ts';
import {
  dropLaunchSpec,
  markSubmitting,
  recordSubmission,
  takeClaim,
  unmarkSubmitting,
  writeLaunchSpec,
} from '../store/engine-files.ts';
import { jobIdOf } from '../store/job-dir.ts';
import { takeRightToStart } from '../store/lease.ts';
import type { Starting, StartOrder, StartRequest } from './port.ts';
import { type Ran, run } from './run-command.ts';
import { askConfig, findByName } from './slurm-ask.ts';
import {
  batchScript,
  type ClusterConfig,
  complaint,
  isRefusal,
  sbatchArgs,
  submittedId,
} from './slurm-commands.ts';
import { graceWithin } from './slurm-states.ts';
import { hear } from './standing.ts';

/** Our own hard window comes first, with what it takes to end a tree and to write the record. */
const LIMIT_MARGIN_SECS = 60;

/** What the start of a job on a cluster needs to know of it before there is a job. */
export async function begin(request: StartRequest): Promise<Starting> {
  const config = await askConfig(request.env);
  if ('why' in config) {
    throw new RunnerError(
      'system',
      config.missing
        ? `engine slurm needs Slurm's programs (sbatch, squeue, scancel, scontrol), and ${config.why}; install slurm-client, or start with engine local`
        : `Slurm does not answer (${config.why}); nothing was submitted. Start again once it does, or with engine local`,
    );
  }
  // What comes with TERM from Slurm itself must be over before its KILL.
  const grace = Math.min(request.supervision.grace, graceWithin(config.killWaitSecs));
  const supervision = { ...request.supervision, grace };
  return {
    supervision,
    elsewhere: true,
    handOver: (order) => submit(order, request, supervision, config),
    dismiss: () => undefined,
  };
}

async function submit(
  order: StartOrder,
  request: StartRequest,
  supervision: Supervision,
  config: ClusterConfig,
): Promise<void> {
  const { jobDir, argv, cwd, env } = order;
  const jobId = jobIdOf(jobDir);
  const script = batchScript([nodeProgram(), request.entry, '__engine', jobDir], SUPERVISOR_ENV);
  const options = request.slurm ?? {};
  const timeLimitSecs = options.time_limit_secs ?? supervision.hard + supervision.grace + LIMIT_MARGIN_SECS;
  const record = await claimOf(config);
  if (order.keyed && !takeRightToStart(jobDir))
    throw new RunnerError('system', `another start has taken the key of job ${jobId} over; start again`);
  try {
    markSubmitting(jobDir, record);
    writeLaunchSpec(jobDir, JSON.stringify({ mode: 'start', jobDir, argv, cwd, env: Object.entries(env) }));
  } catch (error) {
    const why = `cannot write what job ${jobId} needs into ${jobDir}: ${messageOf(error)}; make room there and start again`;
    withdraw(jobDir, why);
    throw new RunnerError('system', why, { cause: error });
  }
  const said = await run('sbatch', sbatchArgs({ jobId, jobDir, timeLimitSecs, options }), {
    env: request.env,
    stdin: script,
    timeoutMs: ENGINE_SUBMIT_MS,
  });
  const id = said.outcome === 'exited' && said.code === 0 ? submittedId(said.stdout) : undefined;
  if (id !== undefined) {
    accept(jobDir, record, id);
    return;
  }
  const why = whyRefused(said);
  if (!isCertain(said)) {
    // It may have got through all the same. Where that cannot be told now, whoever asks next looks for it again.
    hear(jobDir, { state: null, detail: `not known yet whether Slurm took it: ${why}` });
    if (await findSubmission(jobDir, record)) return;
  }
  const problem = `Slurm did not take job ${jobId}: ${why}; nothing runs (job left never-started at ${jobDir})`;
  if (withdraw(jobDir, problem)) throw new RunnerError('preflight', problem);
}

function isCertain({ outcome, code, stderr }: Ran): boolean {
  // A plugin of the site may complain of what was taken all the same.
  return outcome === 'missing' || (outcome === 'exited' && code !== 0 && isRefusal(stderr));
}

function whyRefused({ outcome, stderr }: Ran): string {
  if (outcome === 'missing') return 'sbatch is not on PATH';
  const said = complaint(stderr);
  if (outcome === 'exited') return said || 'sbatch said nothing';
  return `no answer within ${ENGINE_SUBMIT_MS / 1000} s${said === '' ? '' : ` (${said})`}`;
}

/** Undefined where Slurm has no job of this name; what it says where that cannot be told. */
export async function findSubmission(
  jobDir: string,
  record: EngineRecord | undefined,
): Promise<{ id: string } | { why: string } | undefined> {
  const found = await findByName(jobIdOf(jobDir));
  if (!found || 'why' in found) return found;
  if (record) accept(jobDir, record, found.id);
  return found;
}

function accept(jobDir: string, record: EngineRecord, id: string): void {
  hear(jobDir, { state: 'PENDING', detail: null });
  try {
    recordSubmission(jobDir, { ...record, engine_id: id, submitted_at: formatMoment(new Date()) });
  } catch {
    // A full disk, or a directory that is gone: Slurm knows the job by its name, and its supervisor says its number too.
  }
}

async function claimOf({ cluster, killWaitSecs, proctrack }: ClusterConfig): Promise<EngineRecord> {
  return {
    schema_version: 1,
    engine: 'slurm',
    engine_id: null,
    cluster,
    claimed_at: formatMoment(new Date()),
    submitted_at: null,
    kill_wait_secs: killWaitSecs,
    proctrack,
    submitter: { host: hostname(), pid: process.pid, identity: await platform.identify(process.pid) },
  };
}

/**
 * Makes sure that the job never runs, whatever may yet become of the submission, and leaves it never-started. False where
 * it runs already.
 */
function withdraw(jobDir: string, reason: string): boolean {
  try {
    if (!takeClaim(jobDir, { by: 'caller', host: hostname(), verdict: { state: 'failed', reason } }))
      return false;
  } catch {
    // A full disk: there is no claim, but without its spec nothing can begin either.
    dropLaunchSpec(jobDir);
  }
  try {
    unmarkSubmitting(jobDir, reason);
  } catch {
    // Told to the caller, if not to the disk.
  }
  return true;
}
