/** Jobs that Slurm is told to run again: each runs once. */
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, ready, settled } from '../support/jobs.ts';
import { readLog, readStatus } from '../support/read-job.ts';
import type { Cluster } from '../support/slurm-cluster.ts';
import {
  clusterTest,
  counting,
  endOf,
  nodeOf,
  numberOf,
  onSlurm,
  overThere,
  runsOf,
  startThere,
} from './on-cluster.ts';

const test = clusterTest();

/** What is queued again waits two minutes by itself. */
async function comesAgain(cluster: Cluster, number: string): Promise<void> {
  const state = async () => (await cluster.jobs()).find(({ id }) => id === number)?.state;
  await eventually(async () => (await state()) === 'PENDING');
  await cluster.slurm('scontrol', 'update', `jobid=${number}`, 'starttime=now');
}

onSlurm('a job that is to run again', () => {
  test('by hand, runs only once: the second supervisor lets it be', async ({ cluster, temp }) => {
    const job = await startThere(temp, counting);
    await ready(job);
    const number = await numberOf(job);
    await cluster.slurm('scontrol', 'update', `jobid=${number}`, 'requeue=1');
    await cluster.slurm('scontrol', 'requeue', number);
    // Slurm ends the first run for that, which is this job's end.
    expect(await settled(job)).toBe('timeout');
    expect(endOf(job)).toMatchObject({ by: 'supervisor' });
    await comesAgain(cluster, number);
    await overThere(cluster, job);
    expect(await runsOf(cluster, temp)).toBe(1);
    expect(readStatus(job.dir)).toBe('timeout');
    expect(readLog(job.dir).match(/ready/g)).toHaveLength(1);
  });

  test('after all of it was killed, runs only once, and is told as lost', async ({ cluster, temp }) => {
    const job = await startThere(temp, counting);
    await ready(job);
    const number = await numberOf(job);
    await cluster.slurm('scontrol', 'update', `jobid=${number}`, 'requeue=1');
    const node = await nodeOf(cluster, number);
    await cluster.loseNode(node);
    await cluster.startNode(node);
    // Queued again by Slurm, it begins on some node, where its second supervisor finds the claim taken.
    await comesAgain(cluster, number);
    await overThere(cluster, job);
    expect(await ask(temp, 'wait', '--max-secs', '40', job.id)).toBe('0 "died-without-result\\n"');
    expect(await runsOf(cluster, temp)).toBe(1);
  });

  test('and is kept from that, is told as lost while it waits', async ({ cluster, temp }) => {
    const job = await startThere(temp, counting);
    await ready(job);
    const number = await numberOf(job);
    await cluster.slurm('scontrol', 'update', `jobid=${number}`, 'requeue=1');
    const node = await nodeOf(cluster, number);
    await cluster.loseNode(node);
    await cluster.startNode(node);
    await cluster.slurm('scontrol', 'hold', number);
    expect(await ask(temp, 'wait', '--max-secs', '40', job.id)).toBe('0 "died-without-result\\n"');
    expect(endOf(job).reason).toMatch(/has queued it again, but a job runs only once; Slurm says PENDING/);
  });

  test('while it is still queued, has not run yet, and runs once', async ({ cluster, temp, free }) => {
    const job = await startThere(temp, counting);
    const number = await numberOf(job);
    await cluster.slurm('scontrol', 'hold', number);
    await free();
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    await cluster.slurm('scontrol', 'release', number);
    await ready(job);
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
    expect(await runsOf(cluster, temp)).toBe(1);
  });
});
