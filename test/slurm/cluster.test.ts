/** The cluster by itself: what the other files of this suite rely on. */
import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/proc.ts';
import { readReady } from '../support/read-job.ts';
import { Cluster } from '../support/slurm-cluster.ts';
import type { TempBase } from '../support/temp-base.ts';
import { clusterTest, onSlurm } from './on-cluster.ts';

const test = clusterTest();

/** Submits a script as anybody would, without us. */
async function submit(cluster: Cluster, temp: TempBase, script: string, ...flags: string[]): Promise<string> {
  const file = temp.file('job.sh', `#!/bin/sh\n${script}\n`, 0o755);
  const common = ['--parsable', '--open-mode=append', '-D', temp.scratch, '-o', 'out'];
  return cluster.slurm('sbatch', ...common, ...flags, file);
}

const stateOf = async (cluster: Cluster, id: string): Promise<string | undefined> =>
  (await cluster.jobs()).find((job) => job.id === id)?.state;

onSlurm('the cluster', () => {
  test('runs a job on the node that it is told', async ({ cluster, temp }) => {
    const id = await submit(cluster, temp, 'echo "on $SLURMD_NODENAME"', '-w', 'n2');
    await eventually(async () => (await stateOf(cluster, id)) === 'COMPLETED');
    expect((await cluster.slurm('cat', temp.at('out'))).trim()).toBe('on n2');
  });

  test('loses a node with all that ran there, and gets it back', async ({ cluster, temp }) => {
    const id = await submit(
      cluster,
      temp,
      'setsid sleep 60 & sleep 60 & echo "ready $$ $!"; wait',
      '-w',
      'n1',
    );
    const pids = await eventually(() => readReady(temp.scratch, 'out'));
    expect(cluster.processesOn('n1')).toEqual(expect.arrayContaining(pids));
    expect(cluster.processesOn('n2')).toEqual([]);
    await cluster.loseNode('n1');
    expect(pids.filter(isAlive)).toEqual([]);
    await eventually(async () => (await stateOf(cluster, id)) === 'NODE_FAIL');
    await cluster.startNode('n1');
    expect(await cluster.stateOf('n1')).toBe('idle');
  });

  test('keeps its jobs while the controller is gone', async ({ cluster, temp }) => {
    const id = await submit(cluster, temp, 'while [ ! -e go ]; do sleep 0.05; done');
    await eventually(async () => (await stateOf(cluster, id)) === 'RUNNING');
    await cluster.stopController();
    temp.file('go', '');
    await cluster.startController();
    await eventually(async () => (await stateOf(cluster, id)) === 'COMPLETED');
  });

  test('holds jobs back while it is full, or a node is drained', async ({ cluster, temp, free }) => {
    const id = await submit(cluster, temp, 'true', '-w', 'n2');
    await eventually(async () => (await cluster.jobs()).find((job) => job.id === id)?.reason === 'Resources');
    await free();
    await eventually(async () => (await stateOf(cluster, id)) === 'COMPLETED');
    await cluster.drain('n1');
    const kept = await submit(cluster, temp, 'true', '-w', 'n1');
    await eventually(async () => (await stateOf(cluster, kept)) === 'PENDING');
    await cluster.resume('n1');
    await eventually(async () => (await stateOf(cluster, kept)) === 'COMPLETED');
  });
});

onSlurm('the end of a cluster', () => {
  test('ends what still runs there, and leaves neither process nor directory', async ({ temp }) => {
    const cluster = await Cluster.open();
    await submit(cluster, temp, 'setsid sleep 60 & sleep 60 & echo "ready $$ $!"; wait');
    const pids = await eventually(() => readReady(temp.scratch, 'out'));
    await cluster.close();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(() => readdirSync(cluster.dir)).toThrow('ENOENT');
  });
});
