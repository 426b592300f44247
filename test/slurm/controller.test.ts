/** A controller that is gone for a while. */
import { expect } from 'vitest';
import { Session } from '../mcp/session.ts';
import { eventually } from '../support/eventually.ts';
import { ask, jobsBelow, kill, killSupervisor, ready, told } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { listDirectory } from '../support/read-job.ts';
import { clusterTest, endOf, onSlurm, rowOf, startThere } from './on-cluster.ts';

const test = clusterTest();

const worker = sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out');
const startWords = ['start', '--skill', 's', '--run-id', 'r', '--engine', 'slurm', '--', 'touch', 'started'];

onSlurm('a controller that is gone for half a minute', () => {
  test('ends no job and no wait, and keeps nobody from reaping', { timeout: 300_000 }, async ({
    cluster,
    temp,
  }) => {
    const flags = ['--result-path', 'out'];
    const [done, reaped, dead] = [
      await startThere(temp, worker, { flags }),
      await startThere(temp, worker),
      await startThere(temp, sh('echo "ready $$"; exec sleep 600')),
    ];
    for (const job of [done, reaped, dead]) await ready(job);
    await cluster.stopController('SIGKILL');
    const downMs = performance.now();
    const session = await Session.open(temp);
    // One whose heart stops now may be dead or not: nobody can say before the controller is back.
    await kill(await killSupervisor(dead));
    const waiting = temp.run('ours', ['wait', '--max-secs', '90', done.id], { timeoutMs: 100_000 });
    const waitingOverMcp = session.wait([done.id], { max_secs: 50 });

    // Their heartbeats tell, not Slurm.
    expect(await ask(temp, 'status', done.id)).toBe('0 "running\\n"');
    expect(await ask(temp, 'reap', reaped.id)).toBe('0 ""');
    expect(endOf(reaped)).toMatchObject({ state: 'timeout', by: 'supervisor' });

    const refused = await temp.run('ours', startWords);
    expect(refused.stderr).toMatch(/Slurm does not answer .*nothing was submitted/);
    expect(refused.code).toBe(1);
    expect(jobsBelow(temp.base).length).toBe(3);

    await eventually(() => performance.now() - downMs > 30_000);
    await eventually(async () => {
      expect(await rowOf(temp, dead)).toMatchObject({
        state: 'running',
        engine: { detail: expect.stringMatching(/Slurm cannot be asked/) },
      });
      return true;
    });
    await cluster.startController();
    temp.file('go', '');
    expect(told(await waiting)).toBe('0 "done\\n"');
    expect(await waitingOverMcp).toMatchObject([{ state: 'done' }]);
    expect(endOf(done)).toMatchObject({ by: 'supervisor' });
    await eventually(async () => (await ask(temp, 'status', dead.id)) === '0 "died-without-result\\n"');
    await session.close();
    // What watches an ended job may go on telling the controller for minutes.
    await temp.ledger.endAll();
    expect(listDirectory(temp.scratch)).not.toContain('started');
  });
});
