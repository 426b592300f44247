/** Nodes that are lost, and jobs that are to run again. */
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, gone, ready, settled } from '../support/jobs.ts';
import { isAlive } from '../support/proc.ts';
import { sh } from '../support/programs.ts';
import { readPids } from '../support/read-job.ts';
import { NODE_NAMES } from '../support/slurm-conf.ts';
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
  stateThere,
} from './on-cluster.ts';

const test = clusterTest({ requeues: true });

onSlurm('a node that is lost', () => {
  test('takes its jobs with it: who waits is told what is left, and why; none is queued again', async ({
    cluster,
    temp,
  }) => {
    const job = await startThere(temp, counting);
    const worker = sh('echo result > out; echo "ready $$"; exec sleep 600');
    const almost = await startThere(temp, worker, { flags: ['--result-path', 'out'] });
    const pids = [...(await ready(job)), ...(await ready(almost))];
    for (const { dir } of [job, almost]) pids.push((await eventually(() => readPids(dir))).supervisor_pid);
    const waiting = ask(temp, 'wait', '--max-secs', '50', job.id, almost.id);
    for (const node of NODE_NAMES) await cluster.loseNode(node);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await waiting).toBe(`0 ${JSON.stringify(`${job.id}\tdied-without-result\n${almost.id}\tdone\n`)}`);
    expect(endOf(job)).toMatchObject({
      by: 'caller',
      reason: expect.stringMatching(/^its node was lost; Slurm says NODE_FAIL/),
    });
    expect(await ask(temp, 'result', almost.id)).toBe('0 "result\\n"');
    for (const node of NODE_NAMES) await cluster.startNode(node);
    expect(await overThere(cluster, job)).toBe('NODE_FAIL');
    expect(await runsOf(cluster, temp)).toBe(1);
  });

  test('in Slurm’s eyes only, is no end: the job lives, and its own record counts', async ({
    cluster,
    temp,
  }) => {
    const job = await startThere(temp, counting, { flags: ['--result-path', 'out'] });
    await ready(job);
    const node = await nodeOf(cluster, await numberOf(job));
    // Its slurmd is gone, so nobody there is told that the controller has given the job up.
    await cluster.stopNode(node);
    await cluster.slurm('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test');
    await eventually(async () => (await stateThere(cluster, job)) === 'NODE_FAIL');
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
    expect(endOf(job)).toMatchObject({ by: 'supervisor' });
    await cluster.startNode(node);
  });

  test('by its slurmd alone changes nothing for the job, and it can be reaped', async ({ cluster, temp }) => {
    const job = await startThere(temp, counting);
    const pids = await ready(job);
    const node = await nodeOf(cluster, await numberOf(job));
    await cluster.stopNode(node);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(endOf(job)).toMatchObject({ state: 'timeout', by: 'supervisor' });
    await gone(pids);
    await cluster.startNode(node);
  });
});
