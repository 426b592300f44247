import { join } from 'node:path';
import * as z from 'zod/mini';
import { settle } from '../engine/index.ts';
import { isTerminal } from '../job/state.ts';
import { platform, type Whereabouts } from '../platform/index.ts';
import { findJob } from '../store/find.ts';
import { FILES, readMeta, readOutcome } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { processesOf } from '../store/processes.ts';
import { inspectResult } from '../store/result-file.ts';
import { logTail } from './excerpt.ts';
import { jobRef, jobRow, skillFilter } from './fields.ts';
import { defineOperation } from './operation.ts';
import { describeJob } from './report.ts';
import { supervision } from './start-input.ts';

const TAIL_BYTES = 4 * 1024;

const processView = z.object({
  pid: z.number(),
  state: z.enum(['alive', 'stopped', 'gone', 'unknown']),
});
type ProcessView = z.infer<typeof processView>;

export const show = defineOperation({
  name: 'show',
  tool: 'show_job',
  title: 'Show a job',
  description:
    'Everything that is known of one job: what was started, how it stands, its processes and files.',
  input: z.strictObject({ job: jobRef, skill: skillFilter }),
  output: z.object({
    job: jobRow,
    argv: z.nullable(z.array(z.string())),
    cwd: z.nullable(z.string()),
    client: z.nullable(z.string()),
    key: z.nullable(z.string()),
    input_digest: z.nullable(z.string()),
    supervision: z.nullable(supervision),
    ended_at: z.nullable(z.string()),
    classified_by: z.nullable(z.string()),
    result: z.object({
      evidence: z.string().check(z.describe('What lies at the declared path now.')),
      bytes: z.nullable(z.number()),
      sha256: z.nullable(z.string()),
    }),
    supervisor: z.nullable(processView),
    worker: z.nullable(processView),
    files: z.array(z.object({ name: z.string(), bytes: z.number() })),
    log_tail: z.nullable(z.string()),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (input, caller) => {
    const jobDir = findJob(input.job, { env: caller.env, cwd: caller.cwd, skill: input.skill });
    const state = await settle(jobDir, caller.entry);
    const trusted = state !== 'unreadable';
    const meta = trusted ? readMeta(jobDir) : undefined;
    const outcome = trusted && isTerminal(state) ? readOutcome(jobDir) : undefined;
    const evidence = inspectResult(meta, Number.MAX_SAFE_INTEGER);
    const processes = trusted ? processesOf(jobDir) : undefined;
    const view = async (
      process: { pid: number; identity: string | undefined } | undefined,
    ): Promise<ProcessView | null> =>
      process === undefined
        ? null
        : viewOf(
            process.pid,
            await platform.whereabouts(process.pid, process.identity, processes?.circumstances),
          );
    return {
      job: describeJob({ ref: input.job, jobDir }, state),
      argv: meta?.worker_argv ?? null,
      cwd: meta?.cwd ?? null,
      client: meta?.client ?? null,
      key: meta?.key ?? null,
      input_digest: meta?.input_digest ?? null,
      supervision: meta?.supervision ?? null,
      ended_at: outcome?.ended_at ?? null,
      classified_by: outcome?.classified_by ?? null,
      result: {
        evidence: evidence.kind,
        bytes: evidence.kind === 'present' ? evidence.bytes : (outcome?.result_bytes ?? null),
        sha256: outcome?.result_sha256 ?? null,
      },
      supervisor: await view(processes?.supervisor),
      worker: await view(processes?.worker),
      files: trusted ? filesOf(jobDir) : [],
      log_tail: trusted ? logTail(jobDir, TAIL_BYTES) : null,
    };
  },
});

function viewOf(pid: number, at: Whereabouts): ProcessView {
  return at.state === 'alive'
    ? { pid: at.pid, state: at.stopped ? 'stopped' : 'alive' }
    : { pid, state: at.state };
}

function filesOf(jobDir: string): { name: string; bytes: number }[] {
  return Object.values(FILES).flatMap((name) => {
    const stat = lstatIfAny(join(jobDir, name));
    return stat ? [{ name, bytes: stat.size }] : [];
  });
}
