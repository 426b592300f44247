/** Submissions of which nobody knows whether they got through, and answers that are none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobNamed, jobsBelow, ready, settled } from '../support/jobs.ts';
import { readStat } from '../support/proc.ts';
import { commandOf, sh } from '../support/programs.ts';
import { listDirectory, readPids, readStatus } from '../support/read-job.ts';
import type { Cluster } from '../support/slurm-cluster.ts';
import type { TempBase } from '../support/temp-base.ts';
import { clusterTest, endOf, numberOf, onSlurm, overThere, startThere } from './on-cluster.ts';
import { called, inTheWay } from './programs.ts';

const test = clusterTest();

const counting = sh('echo ran >> ran');
const words = ['start', '--skill', 's', '--run-id', 'r', '--engine', 'slurm'];

/** Starts a job whose starter is killed on the way; gives the job that it has left. */
async function startKilled(temp: TempBase, env: Readonly<Record<string, string>>): Promise<Job> {
  const [program, ...args] = commandOf('ours');
  const child = spawn(program, [...args, ...words, '--', ...counting], {
    env: { ...temp.env, ...env },
    cwd: temp.scratch,
    stdio: 'ignore',
  });
  temp.ledger.register(child.pid ?? 0, 'the starter');
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  const [job] = jobsBelow(temp.base);
  if (!job) throw new Error('the starter left no job');
  return jobNamed(temp, job.id);
}

async function ranOnce(cluster: Cluster, temp: TempBase): Promise<void> {
  expect((await cluster.jobs()).filter(({ name }) => name === jobsBelow(temp.base)[0]?.id)).toHaveLength(1);
  expect(await cluster.slurm('cat', temp.at('ran'))).toBe('ran');
}

onSlurm.concurrent('a starter that is killed', () => {
  test('after Slurm took the job, before that was on record: it is found again, and runs once', async ({
    cluster,
    temp,
  }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'real "$@" >/dev/null; kill -9 $PPID' });
    const job = await startKilled(temp, env);
    expect(await ask(temp, 'wait', '--max-secs', '40', job.id)).toBe('0 "done\\n"');
    await ranOnce(cluster, temp);
  });

  test('before Slurm was told: it is settled, and never runs', async ({ cluster, temp }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'kill -9 $PPID' });
    const job = await startKilled(temp, env);
    await eventually(async () => (await ask(temp, 'status', job.id)) !== '0 "running\\n"', 90_000);
    expect(endOf(job)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/never reached Slurm/),
      by: 'caller',
    });
    expect((await cluster.jobs()).filter(({ name }) => name === job.id)).toEqual([]);
  });

  test('while sbatch goes on and submits later: what was settled meanwhile never runs', async ({
    cluster,
    temp,
  }) => {
    const env = inTheWay(cluster, temp, {
      sbatch: `script=$(cat); kill -9 $PPID; sleep 4; printf '%s' "$script" | real "$@"; touch submitted`,
    });
    const job = await startKilled(temp, env);
    await ask(temp, 'reap', job.id);
    expect(readStatus(job.dir)).toBe('timeout');
    await eventually(() => listDirectory(temp.scratch).includes('submitted'));
    await overThere(cluster, job);
    expect(listDirectory(temp.scratch)).not.toContain('ran');
    expect(readStatus(job.dir)).toBe('timeout');
  });
});

onSlurm.concurrent('an sbatch', () => {
  test('that submits and never answers: start gives the id in time, and the job runs once', async ({
    cluster,
    temp,
  }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'real "$@" >/dev/null; exec sleep 300' });
    const job = await startThere(temp, counting, { env });
    expect(await numberOf(job)).toMatch(/^\d+$/);
    expect(await settled(job)).toBe('done');
    await ranOnce(cluster, temp);
  });

  test('that hangs before it submits: start gives up in time, and nothing runs', async ({
    cluster,
    temp,
  }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'exec sleep 300' });
    const call = await temp.run('ours', [...words, '--', ...counting], { extra: env });
    expect(call.stderr).toMatch(/did not take job .*no answer within 20 s.*nothing runs/);
    expect(call.code).toBe(1);
    const [job] = jobsBelow(temp.base);
    expect(await ask(temp, 'status', job?.id ?? '')).toBe('0 "never-started\\n"');
    expect((await cluster.jobs()).filter(({ name }) => name === job?.id)).toEqual([]);
    await temp.ledger.endAll();
  });

  test.for([
    ['', 0],
    ['Submitted batch job', 0],
    ['-1', 0],
    ['\\033[31m12\\033[0m', 0],
  ] as const)(
    'that submits and answers %j: the job is found by its name',
    async ([answer, code], { cluster, temp }) => {
      const env = inTheWay(cluster, temp, {
        sbatch: `real "$@" >/dev/null; printf '${answer}\\n'; exit ${code}`,
      });
      const job = await startThere(temp, counting, { env });
      expect(await settled(job)).toBe('done');
      await ranOnce(cluster, temp);
    },
  );

  test('that submits and says that it has not heard: it is looked for, not submitted again', async ({
    cluster,
    temp,
  }) => {
    const said = 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation';
    const env = inTheWay(cluster, temp, { sbatch: `real "$@" >/dev/null; echo '${said}' >&2; exit 1` });
    const job = await startThere(temp, counting, { env });
    expect(await settled(job)).toBe('done');
    await ranOnce(cluster, temp);
  });
});

const ANSWERS: readonly [string, string][] = [
  ['garbage', 'head -c 2000 /dev/urandom; exit 0'],
  ['an error', 'echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1'],
  ['nothing, for ever', 'exec sleep 300'],
  ['a crash', 'kill -SEGV $$'],
];

onSlurm.concurrent('a squeue', () => {
  test.for(ANSWERS)('that answers %s ends no job that is silent', async ([, script], { cluster, temp }) => {
    const env = inTheWay(cluster, temp, { squeue: script });
    const job = await startThere(temp, sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done'));
    await ready(job);
    const { supervisor_pid } = await eventually(() => readPids(job.dir));
    process.kill(supervisor_pid, 'SIGSTOP');
    await eventually(() => readStat(supervisor_pid)?.state === 'T');
    utimesSync(join(job.dir, 'heartbeat'), 1, 1);
    for (const args of [['status'], ['wait', '--max-secs', '0.5'], ['list']])
      await temp.run('ours', [...args, ...(args[0] === 'list' ? [] : [job.id])], { extra: env });
    expect(called(temp)).toContain('squeue');
    expect(readStatus(job.dir)).toBeUndefined();
    process.kill(supervisor_pid, 'SIGCONT');
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
    await temp.ledger.endAll();
  });

  test.for(ANSWERS)('that answers %s ends no queued job', async ([, script], { cluster, temp }) => {
    const env = inTheWay(cluster, temp, { squeue: script });
    const job = await startThere(temp, counting);
    await temp.run('ours', ['status', job.id], { extra: env });
    expect(await settled(job)).toBe('done');
    expect(endOf(job).by).toBe('supervisor');
    await temp.ledger.endAll();
  });
});

onSlurm('no Slurm', () => {
  test('is told by start, with what to do, and nothing is started', async ({ temp }) => {
    const run = await temp.run('ours', [...words, '--', 'true'], { extra: { PATH: '/nowhere' } });
    expect(run.stderr).toMatch(/Slurm's programs .*install slurm-client/);
    expect(run.code).toBe(1);
    expect(jobsBelow(temp.base)).toEqual([]);
  });
});
