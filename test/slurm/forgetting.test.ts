/** A controller that forgets soon, and takes few jobs. */
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, kill, killSupervisor, ready, settled } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { listDirectory } from '../support/read-job.ts';
import { clusterTest, endOf, numberOf, onSlurm, startThere, stateThere } from './on-cluster.ts';

const MAX_JOBS = 6;
const test = clusterTest({ minJobAgeSecs: 2, maxJobCount: MAX_JOBS });

onSlurm('a record that Slurm has dropped', () => {
  test('changes nothing for a job that has one of its own, and explains one that has none', {
    timeout: 120_000,
  }, async ({ cluster, temp }) => {
    const done = await startThere(temp, sh('true'));
    const lost = await startThere(temp, sh('echo "ready $$"; exec sleep 600'));
    const queued = await startThere(temp, sh('touch ran'), { flags: ['--memory-mb', '900', '--cpus', '2'] });
    const blocked = await startThere(temp, sh('touch ran'), { flags: ['--time-limit-secs', '60'] });
    await cluster.slurm('scancel', await numberOf(blocked));
    await settled(done);
    await settled(queued);
    await ready(lost);
    await kill(await killSupervisor(lost));
    for (const job of [done, lost, queued, blocked])
      await eventually(async () => (await stateThere(cluster, job)) === undefined, 90_000);
    expect(await ask(temp, 'status', done.id)).toBe('0 "done\\n"');
    await eventually(
      async () => (await ask(temp, 'status', lost.id)) === '0 "died-without-result\\n"',
      40_000,
    );
    expect(endOf(lost).reason).toMatch(/Slurm does not know the job any more/);
    expect(await ask(temp, 'status', blocked.id)).toMatch(/died-without-result|timeout/);
    await temp.ledger.endAll();
  });
});

onSlurm('a queue that is full', () => {
  test('takes no more: start does not hang, and what it left never runs twice', { timeout: 150_000 }, async ({
    cluster,
    temp,
    free,
  }) => {
    const jobs = [];
    // The job that occupies the nodes is one of them.
    for (let turn = 1; turn < MAX_JOBS; turn += 1) jobs.push(await startThere(temp, sh('echo ran >> ran')));
    const before = performance.now();
    const call = await temp.run('ours', [
      ...[
        'start',
        '--skill',
        's',
        '--run-id',
        'r',
        '--label',
        'late',
        '--engine',
        'slurm',
        '--',
        'touch',
        'late',
      ],
    ]);
    expect(performance.now() - before).toBeLessThan(35_000);
    const told = `${call.code} ${call.stdout.toString()}${call.stderr}`;
    await free();
    for (const job of jobs) expect(await settled(job)).toBe('done');
    expect((await cluster.slurm('cat', temp.at('ran'))).split('\n')).toHaveLength(MAX_JOBS - 1);
    // Nobody submits it for us once start has given up.
    expect(told).toMatch(/^[01] /);
    const [, id] = /^0 (\S+)/.exec(told) ?? [];
    if (id !== undefined)
      await eventually(async () => (await ask(temp, 'status', id)) !== '0 "running\\n"', 90_000);
    expect(listDirectory(temp.scratch)).not.toContain('late');
  });
});
