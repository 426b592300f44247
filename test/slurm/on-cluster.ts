/** Tests on a Slurm cluster of their file's own. Where there is no Slurm, they are skipped, and that is said loudly. */
import { describe, test as plainTest } from 'vitest';
import { type Cluster, withCluster } from '../support/slurm-cluster.ts';
import type { ClusterOptions } from '../support/slurm-conf.ts';
import { slurmMissing } from '../support/slurm-programs.ts';
import { type TempBase, withTempBase } from '../support/temp-base.ts';

const missing = slurmMissing();
if (missing !== undefined) console.warn(`\n!!! The Slurm suite was NOT run: ${missing}. !!!\n`);

/** A suite that needs Slurm. */
export const onSlurm = describe.skipIf(missing);

/** A test with a cluster that it shares with the tests of its file, and a temp base whose callers know of the cluster. */
export const clusterTest = (options: ClusterOptions = {}) =>
  plainTest.extend<{ cluster: Cluster; temp: TempBase }>({
    cluster: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest wants a destructured first parameter
      async ({}, use) => withCluster(options, use),
      { scope: 'file' },
    ],
    temp: async ({ cluster }, use) => withTempBase(cluster.env, use),
  });
