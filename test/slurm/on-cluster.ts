/** Tests on a Slurm cluster of their file's own. Where there is no Slurm, they are skipped, and that is said loudly. */
import { describe, expect, test as plainTest } from 'vitest';
import * as z from 'zod';
import { eventually } from '../support/eventually.ts';
import { type Job, type StartOptions, start } from '../support/jobs.ts';
import { type Argv, sh } from '../support/programs.ts';
import { readJobFile, readOutcome, readReason, readStatus } from '../support/read-job.ts';
import { type Cluster, withCluster } from '../support/slurm-cluster.ts';
import { type ClusterOptions, NODE_NAMES, type NodeName } from '../support/slurm-conf.ts';
import { slurmMissing } from '../support/slurm-programs.ts';
import { type TempBase, withTempBase } from '../support/temp-base.ts';

const missing = slurmMissing();
if (missing !== undefined) console.warn(`\n!!! The Slurm suite was NOT run: ${missing}. !!!\n`);

/** A suite that needs Slurm. */
export const onSlurm = describe.skipIf(missing);

interface Surroundings {
  /** Shared with the other tests of the file. */
  readonly cluster: Cluster;
  /** Its callers know of the cluster. */
  readonly temp: TempBase;
  /** A test that takes this finds all processors of the cluster occupied, until it calls it. */
  readonly free: () => Promise<void>;
}

export const clusterTest = (options: ClusterOptions = {}) =>
  plainTest.extend<Surroundings>({
    cluster: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest wants a destructured first parameter
      async ({}, use) => withCluster(options, use),
      { scope: 'file' },
    ],
    temp: async ({ cluster }, use) => withTempBase(cluster.env, use),
    free: async ({ cluster }, use) => {
      const free = await cluster.occupy();
      await use(free);
      await free();
    },
  });

/** Starts a job on the cluster. */
export function startThere(
  temp: TempBase,
  worker: Argv,
  { flags = [], ...options }: StartOptions = {},
): Promise<Job> {
  return start(temp, worker, { ...options, flags: ['--engine', 'slurm', ...flags] });
}

/** A worker that leaves a line for each time that it runs, and ends when there is a file `go`. */
export const counting = sh(
  'echo ran >> ran; echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out',
);

/** How often it ran. */
export async function runsOf(cluster: Cluster, temp: TempBase): Promise<number> {
  return (await cluster.slurm('cat', temp.at('ran'))).split('\n').length;
}

/** The node on which the Slurm job of that number runs. */
export async function nodeOf(cluster: Cluster, number: string): Promise<NodeName> {
  return eventually(async () => {
    const node = (await cluster.jobs()).find(({ id }) => id === number)?.node;
    return NODE_NAMES.find((name) => name === node);
  });
}

const engineSchema = z.looseObject({ engine_id: z.string().nullable() });

/** Slurm's number for a job, once it is on record. */
export async function numberOf(job: Job): Promise<string> {
  return eventually(
    () => engineSchema.parse(JSON.parse(readJobFile(job.dir, 'engine.json') ?? '')).engine_id,
  );
}

/** Of a job as Slurm sees it: `RUNNING`, `CANCELLED`, …; undefined for one that it does not know. */
export async function stateThere(cluster: Cluster, job: Job): Promise<string | undefined> {
  return (await cluster.jobs()).find(({ name }) => name === job.id)?.state;
}

/** Waits until Slurm has nothing more to do for a job. */
export async function overThere(cluster: Cluster, job: Job): Promise<string> {
  return eventually(async () => {
    const state = await stateThere(cluster, job);
    return state !== undefined && !/PENDING|RUNNING|COMPLETING|CONFIGURING/.test(state) && state;
  }, 90_000);
}

/** The one row of `list --json` for a job. Asking settles what can be settled. */
export async function rowOf(temp: TempBase, job: Job): Promise<Record<string, unknown>> {
  const run = await temp.run('ours', ['list', '--json']);
  const rows = z.array(z.looseObject({ job_id: z.string() })).parse(JSON.parse(run.stdout.toString('utf8')));
  const row = rows.find(({ job_id }) => job_id === job.id);
  expect(row).toBeDefined();
  return row ?? {};
}

/** How a job ended, from its directory alone. */
export function endOf(job: Job): { state: string | undefined; reason: string | undefined; by: unknown } {
  return { state: readStatus(job.dir), reason: readReason(job.dir), by: readOutcome(job.dir)?.classified_by };
}
