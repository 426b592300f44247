/** Submissions of which nobody knows whether they got through, and answers that are none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobNamed, jobsBelow, ready, settled } from '../support/jobs.ts';
import { commandOf, sh } from '../support/programs.ts';
import { listDirectory, readJobFile, readStatus } from '../support/read-job.ts';
import type { Cluster } from '../support/slurm-cluster.ts';
import type { TempBase } from '../support/temp-base.ts';
import { clusterTest, endOf, numberOf, onSlurm, overThere, startThere } from './on-cluster.ts';
import { inTheWay } from './programs.ts';

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
    const env = inTheWay(cluster, temp, { sbatch: 'kill -9 $PPID; sleep 4; real "$@"; touch submitted' });
    const job = await startKilled(temp, env);
    await ask(temp, 'reap', job.id);
    expect(readStatus(job.dir)).toBe('timeout');
    await eventually(
      () => listDirectory(temp.scratch).includes('submitted') || readJobFile(job.dir, 'engine.log') !== '',
      20_000,
    );
    await overThere(cluster, job);
    expect(listDirectory(temp.scratch)).not.toContain('ran');
    expect(readStatus(job.dir)).toBe('timeout');
  });
});

onSlurm.concurrent('an sbatch', () => {
  test('that submits and never answers: start gives the id in time, and the job runs once', {
    timeout: 90_000,
  }, async ({ cluster, temp }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'real "$@" >/dev/null; exec sleep 300' });
    const job = await startThere(temp, counting, { env });
    expect(await numberOf(job)).toMatch(/^\d+$/);
    expect(await settled(job)).toBe('done');
    await ranOnce(cluster, temp);
  });

  test('that hangs before it submits: the job does not run, and is told as not known, then as failed', {
    timeout: 150_000,
  }, async ({ cluster, temp }) => {
    const env = inTheWay(cluster, temp, { sbatch: 'exec sleep 300' });
    const job = await startThere(temp, counting, { env });
    await eventually(async () => (await ask(temp, 'status', job.id)) !== '0 "running\\n"', 120_000);
    expect(endOf(job)).toMatchObject({ state: 'failed', by: 'caller' });
    expect((await cluster.jobs()).filter(({ name }) => name === job.id)).toEqual([]);
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

onSlurm.concurrent('a squeue', () => {
  test.for([
    ['garbage', 'head -c 2000 /dev/urandom; exit 0'],
    [
      'an error',
      'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1',
    ],
    ['nothing, for ever', 'exec sleep 300'],
    ['a crash', 'kill -SEGV $$'],
    ['rows of somebody else’s', 'echo "1|FAILED|other|None|other"'],
  ] as const)('that answers %s ends no job', async ([, script], { cluster, temp }) => {
    const env = inTheWay(cluster, temp, { squeue: script });
    const job = await startThere(temp, sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done'));
    await ready(job);
    for (const args of [['status'], ['wait', '--max-secs', '1'], ['log']])
      await temp.run('ours', [...args, job.id], { extra: env });
    expect(readStatus(job.dir)).toBeUndefined();
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
  });

  test.for([
    ['garbage', 'head -c 2000 /dev/urandom; exit 0'],
    [
      'an error',
      'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1',
    ],
  ] as const)('that answers %s ends no queued job', async ([, script], { cluster, temp }) => {
    const env = inTheWay(cluster, temp, { squeue: script });
    const job = await startThere(temp, counting);
    const number = await numberOf(job);
    await temp.run('ours', ['status', job.id], { extra: env });
    expect(await settled(job)).toBe('done');
    expect(number).toMatch(/^\d+$/);
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

onSlurm('doctor', () => {
  test('says of which cluster it is, and what that does not do', async ({ temp }) => {
    const run = await temp.run('ours', ['doctor'], { extra: { PEER_JOBS_ENGINE: 'slurm' } });
    expect(run.stdout.toString()).toMatch(/Slurm 22|slurm .*ci/i);
    expect(run.stdout.toString()).toMatch(/proctrack/);
  });

  test('says that the cluster does not answer', async ({ cluster, temp }) => {
    const env = inTheWay(cluster, temp, {
      scontrol:
        'echo "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)" >&2; exit 1',
    });
    const run = await temp.run('ours', ['doctor'], { extra: { PEER_JOBS_ENGINE: 'slurm', ...env } });
    expect(run.stdout.toString()).toMatch(/Unable to contact slurm controller/);
  });

  test('says that there is no Slurm, where jobs are to run there', async ({ temp }) => {
    const run = await temp.run('ours', ['doctor'], {
      extra: { PEER_JOBS_ENGINE: 'slurm', PATH: '/nowhere' },
    });
    expect(run.stdout.toString()).toMatch(/not on PATH/);
  });

  test('says nothing of Slurm to whoever does not use it', async ({ temp }) => {
    const run = await temp.run('ours', ['doctor'], { extra: { PATH: '/nowhere' } });
    expect(run.stdout.toString()).not.toMatch(/slurm/i);
  });
});
