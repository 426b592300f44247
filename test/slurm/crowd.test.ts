/** Many jobs at once, over the command and over MCP; and those who start them are killed. */
import { expect } from 'vitest';
import { RawServer } from '../mcp/raw-server.ts';
import { Session } from '../mcp/session.ts';
import { eventually } from '../support/eventually.ts';
import { type Job, jobNamed, ready, settled } from '../support/jobs.ts';
import { repoRoot, sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, readLog, readStatus } from '../support/read-job.ts';
import { cleanEnv, runProgram } from '../support/run-cli.ts';
import type { Cluster } from '../support/slurm-cluster.ts';
import { clusterTest, endOf, onSlurm, overThere, startThere } from './on-cluster.ts';

const test = clusterTest();

/** Counts how often squeue is asked, by the controller's own book. */
async function questions(cluster: Cluster): Promise<number> {
  const told = await cluster.slurm('sdiag');
  return Number(/REQUEST_JOB_(?:USER_)?INFO\s+\(\s*\d+\) count:(\d+)/.exec(told)?.[1] ?? 0);
}

const ENDINGS = [
  { script: 'echo $0; printf $0 > result-$0', state: 'done' },
  { script: 'echo $0; exit 3', state: 'failed' },
  { script: 'echo $0; kill -9 $$', state: 'died-without-result' },
] as const;

onSlurm('50 jobs at once', () => {
  test('have 50 true outcomes, on both nodes, and leave nothing', { timeout: 400_000 }, async ({
    cluster,
    temp,
  }) => {
    const callers = Array.from({ length: 5 }, async (_, caller) => {
      const jobs: (Job & { name: string; state: string })[] = [];
      for (let turn = 0; turn < 10; turn += 1) {
        const name = `${caller}-${turn}`;
        const { script, state } = ENDINGS[turn % 3] ?? ENDINGS[0];
        const job = await startThere(temp, ['/bin/sh', '-c', script, name], {
          flags: ['--result-path', `result-${name}`],
        });
        jobs.push({ ...job, name, state });
      }
      return jobs;
    });
    const jobs = (await Promise.all(callers)).flat();
    expect(new Set(jobs.map((job) => job.id)).size).toBe(50);
    for (const job of jobs) {
      expect(`${job.name} ${await settled(job, 300_000)}`).toBe(`${job.name} ${job.state}`);
      expect(readLog(job.dir)).toBe(`${job.name}\n`);
      expect(endOf(job).by).toBe('supervisor');
    }
    for (const job of jobs) await overThere(cluster, job);
    const rows = (await cluster.jobs()).filter(({ name }) => jobs.some((job) => job.id === name));
    expect(rows).toHaveLength(50);
    expect(new Set(rows.map(({ node }) => node)).size).toBe(2);
    const files = [
      'engine-claim',
      'engine.json',
      'engine.log',
      'heartbeat',
      'meta.json',
      'out.log',
      'outcome.json',
      'pid',
    ];
    for (const job of jobs) expect(listDirectory(job.dir)).toEqual([...files, 'reason', 'status']);
    await eventually(() => temp.ledger.living().length === 0);
  });

  test('that are waited for in one call cost the controller one question in ten seconds', async ({
    cluster,
    temp,
    free,
  }) => {
    const session = await Session.open(temp);
    const jobs = await Promise.all(
      Array.from({ length: 20 }, () => session.start('true', { engine: 'slurm' })),
    );
    const before = await questions(cluster);
    const ids = jobs.map((job) => job.job_id);
    const rows = await session.wait(ids, { max_secs: 12 });
    expect(rows.filter(({ state }) => state === 'running')).toHaveLength(20);
    expect((await questions(cluster)) - before).toBeLessThan(6);
    await session.call('reap_job', { jobs: ids });
    await free();
    await session.close();
  });
});

onSlurm('over MCP', () => {
  test('one field makes the difference, and the answers are the same', async ({ temp }) => {
    const session = await Session.open(temp);
    const args = { result_path: 'out', label: 'l', wait_secs: 40 };
    const script = 'echo said; echo result > out';
    const here = await session.start(script, args);
    const there = await session.start(script, { ...args, engine: 'slurm' });
    const sameOf = ({ state, label, exit_code, log_tail, result_text, reason }: typeof here) => ({
      ...{ state, label, exit_code, log_tail, result_text, reason },
    });
    expect(sameOf(there)).toEqual(sameOf(here));
    expect(there).toMatchObject({ state: 'done', result_text: 'result\n', engine: { name: 'slurm' } });
    const asked = { partition: 'main', time_limit_secs: 60, memory_mb: 50, cpus: 1 };
    const another = await session.start('true', { engine: 'slurm', slurm: asked, wait_secs: 40 });
    expect(another.state).toBe('done');
    const wrong = await session.call('start_job', {
      argv: ['true'],
      engine: 'slurm',
      slurm: { partition: '-x' },
    });
    expect(wrong.isError).toBe(true);
    await session.close();
  });

  test('a harness that is killed with all it has leaves its jobs to the next one', async ({
    cluster,
    temp,
  }) => {
    const server = new RawServer(temp, { detached: true });
    await server.initialize();
    const argv = ['sh', '-c', 'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo made it > out'];
    const start = { argv, engine: 'slurm', label: 'theirs', result_path: 'out' };
    await server.answer(server.call('start_job', start));
    const [dir = ''] = jobDirsBelow(temp.base);
    const job = jobNamed(temp, dir.replace(/.*\//, ''));
    await ready(job);
    server.call('wait_jobs', { jobs: [job.id], max_secs: 40 });
    await server.answer(server.request('ping'));
    process.kill(-server.pid, 'SIGKILL');
    await server.exited;
    const later = await Session.open(temp);
    const { data } = await later.call('list_jobs', { label: 'theirs' });
    expect(data.jobs).toMatchObject([{ job_id: job.id, state: 'running' }]);
    temp.file('go', '');
    expect(await later.wait([job.id], { max_secs: 40 })).toMatchObject([
      { state: 'done', result_text: 'made it\n' },
    ]);
    await later.close();
    expect(await overThere(cluster, job)).toBe('COMPLETED');
    expect(readStatus(job.dir)).toBe('done');
  });

  test('the demo runs its job on the cluster', async ({ cluster, temp }) => {
    const run = await runProgram([process.execPath, `${repoRoot}scripts/demo.mjs`, '--engine', 'slurm'], {
      env: cleanEnv({ ...cluster.env, TMPDIR: temp.scratch, NO_COLOR: '1' }),
    });
    expect(run.stdout.toString()).toMatch(/was killed with SIGKILL in the middle/);
    expect(run.stdout.toString()).toMatch(/✓ done after [\d.]+ s, result: The answer is 42\./);
    expect(run.code).toBe(0);
    const names = (await cluster.jobs()).map(({ name }) => name);
    expect(names.some((name) => run.stdout.toString().includes(name))).toBe(true);
  });
});

onSlurm('a crowd', () => {
  test('that is reaped at once ends at once', async ({ cluster, temp }) => {
    const jobs = await Promise.all(Array.from({ length: 8 }, () => startThere(temp, sh('exec sleep 600'))));
    const run = await temp.run('ours', ['reap', ...jobs.map((job) => job.id)]);
    expect(run.code).toBe(0);
    for (const job of jobs) {
      expect(readStatus(job.dir)).toBe('timeout');
      await overThere(cluster, job);
    }
    await eventually(() => temp.ledger.living().length === 0);
  });
});
