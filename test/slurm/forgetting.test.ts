/** A controller that forgets soon, and takes few jobs. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobNamed, kill, killSupervisor, ready, settled } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import type { CliRun } from '../support/run-cli.ts';
import { clusterTest, endOf, numberOf, onSlurm, startThere, stateThere } from './on-cluster.ts';

const MAX_JOBS = 6;
const test = clusterTest({ minJobAgeSecs: 2, maxJobCount: MAX_JOBS });

onSlurm('a record that Slurm has dropped', () => {
  test('changes nothing for a job that has one of its own, and explains one that has none', {
    timeout: 400_000,
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
      await eventually(async () => (await stateThere(cluster, job)) === undefined, 120_000);
    expect(await ask(temp, 'status', done.id)).toBe('0 "done\\n"');
    await eventually(async () => (await ask(temp, 'status', lost.id)) === '0 "died-without-result\\n"');
    expect(endOf(lost).reason).toMatch(/Slurm does not know the job any more/);
    expect(await ask(temp, 'status', blocked.id)).toMatch(/died-without-result|timeout/);
    await temp.ledger.endAll();
  });
});

onSlurm('a queue that is full', () => {
  test('takes no more: start says so in time, and what it left never runs', async ({ temp, free }) => {
    const accepted: Job[] = [];
    let refused: CliRun | undefined;
    while (refused === undefined && accepted.length < MAX_JOBS) {
      const words = ['start', '--skill', 's', '--run-id', 'r', '--engine', 'slurm', '--'];
      const call = await temp.run('ours', [...words, ...sh('echo ran >> ran')]);
      if (call.code === 0) accepted.push(jobNamed(temp, call.stdout.toString().trim()));
      else refused = call;
    }
    expect(refused?.stderr).toMatch(/did not take job .*temporarily unable to accept job.*nothing runs/);
    expect(accepted.length).toBeGreaterThan(2);
    await free();
    for (const job of accepted) expect(await settled(job)).toBe('done');
    expect(readFileSync(temp.at('ran'), 'utf8').match(/ran/g)).toHaveLength(accepted.length);
  });
});
