/** Jobs that wait for their turn. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Session } from '../mcp/session.ts';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, settled } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { listDirectory, readStatus } from '../support/read-job.ts';
import type { TempBase } from '../support/temp-base.ts';
import {
  clusterTest,
  endOf,
  numberOf,
  onSlurm,
  overThere,
  rowOf,
  startThere,
  stateThere,
} from './on-cluster.ts';

const test = clusterTest();

/** A worker that leaves a trace of having run. */
const tracing = sh('echo ran >> ran');
const hasRun = (temp: TempBase): boolean => listDirectory(temp.scratch).includes('ran');

onSlurm('a job that is queued', () => {
  test('is told as running, with that in its detail, wherever one asks', async ({ temp, free }) => {
    const job = await startThere(temp, tracing);
    const number = await numberOf(job);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(await ask(temp, 'wait', '--max-secs', '0.5', job.id)).toBe('0 "running\\n"');
    const queued = { name: 'slurm', id: number, cluster: 'ci', queued: true };
    await eventually(async () => {
      const { engine, state } = await rowOf(temp, job);
      expect({ engine, state }).toMatchObject({ engine: { ...queued, state: 'PENDING' }, state: 'running' });
      return true;
    });
    expect((await temp.run('ours', ['show', job.id])).stdout.toString()).toMatch(
      new RegExp(`engine +slurm job ${number}, cluster ci, queued`),
    );
    const session = await Session.open(temp);
    const [row] = await session.wait([job.id], { max_secs: 1 });
    expect(row).toMatchObject({ state: 'running', engine: queued });
    const said = await session.call('job_status', { jobs: [job.id] });
    expect(said.text).toContain('queued in slurm');
    await session.close();
    const waiting = ask(temp, 'wait', '--max-secs', '50', job.id);
    await free();
    expect(await waiting).toBe('0 "done\\n"');
    expect(await rowOf(temp, job)).toMatchObject({
      state: 'done',
      engine: { ...queued, host: expect.any(String), queued: false },
    });
  });

  test('is reaped without having run, and is gone from the queue', async ({ cluster, temp, free }) => {
    const job = await startThere(temp, tracing);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(endOf(job)).toMatchObject({
      state: 'timeout',
      reason: expect.stringMatching(/^reaped on request/),
    });
    expect(await overThere(cluster, job)).toBe('CANCELLED');
    await free();
    expect(hasRun(temp)).toBe(false);
  });

  test('is reaped while the controller is gone, and never runs once that is back', async ({
    cluster,
    temp,
    free,
  }) => {
    const job = await startThere(temp, tracing);
    await numberOf(job);
    await cluster.stopController();
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    await cluster.startController();
    await free();
    await overThere(cluster, job);
    expect(hasRun(temp)).toBe(false);
    expect(readStatus(job.dir)).toBe('timeout');
  });

  test('that somebody cancels in Slurm has died, and who asks is told why', async ({
    cluster,
    temp,
    free,
  }) => {
    const job = await startThere(temp, tracing);
    const waiting = ask(temp, 'wait', '--max-secs', '50', job.id);
    await cluster.slurm('scancel', await numberOf(job));
    expect(await waiting).toBe('0 "died-without-result\\n"');
    expect(endOf(job)).toMatchObject({
      reason: expect.stringMatching(/before it began; Slurm says CANCELLED/),
      by: 'caller',
    });
    expect(await stateThere(cluster, job)).toBe('CANCELLED');
    await free();
    expect(hasRun(temp)).toBe(false);
  });

  test('is spared by sweep, prune and remove, however old it looks', async ({ temp, free }) => {
    const job = await startThere(temp, tracing, { run: 'old' });
    await numberOf(job);
    age(join(temp.base, 's/old'));
    await temp.run('ours', ['prune', '--older-than', '1h']);
    expect(await told(temp, 'remove', job.id)).toMatch(/^1 .*\n.*still running/);
    const other = await startThere(temp, sh('true'), { run: 'new' });
    expect(listDirectory(join(temp.base, 's'))).toEqual(['new', 'old']);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    await free();
    expect(await settled(job)).toBe('done');
    expect(await settled(other)).toBe('done');
    expect(hasRun(temp)).toBe(true);
  });

  test('has time for its windows from its start on, not from its submission', async ({ temp, free }) => {
    const job = await startThere(temp, sh('sleep 0.5'), { flags: ['--hard-secs', '3', '--idle-secs', '3'] });
    await eventually(async () => Date.now() - (await startedMs(temp, job)) > 3500);
    await free();
    expect(await settled(job)).toBe('done');
  });
});

async function startedMs(temp: TempBase, job: Job): Promise<number> {
  return Date.parse(String((await rowOf(temp, job)).started_at));
}

async function told(temp: TempBase, ...args: string[]): Promise<string> {
  const run = await temp.run('ours', args);
  return `${run.code} ${run.stdout.toString()}${run.stderr}`;
}

/** Makes everything below look three days old. */
function age(path: string): void {
  execFileSync('find', [path, '-depth', '-exec', 'touch', '-h', '-d', '3 days ago', '{}', '+']);
}
