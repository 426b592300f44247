/** What doctor says of the cluster. */
import { expect } from 'vitest';
import type { TempBase } from '../support/temp-base.ts';
import { clusterTest, onSlurm } from './on-cluster.ts';
import { inTheWay } from './programs.ts';

const test = clusterTest();

/** Its lines on Slurm. */
async function told(temp: TempBase, extra: Readonly<Record<string, string>>): Promise<string> {
  const run = await temp.run('ours', ['doctor'], { extra });
  return (run.stdout.toString().match(/^. slurm .*(\n {3,}→.*)*/gm) ?? []).join('\n');
}

const CHOSEN = { PEER_JOBS_ENGINE: 'slurm' };

onSlurm('doctor', () => {
  test('says which cluster it is, how its nodes are, and what it does not do', async ({ cluster, temp }) => {
    expect(await told(temp, CHOSEN)).toMatch(/✓ slurm +cluster ci, Slurm \d+\.\d+/);
    expect(await told(temp, CHOSEN)).toMatch(/✓ slurm +nodes: 2 idle/);
    expect(await told(temp, CHOSEN)).toMatch(
      /! slurm +ProctrackType=proctrack\/linuxproc: .*\n +→ Set ProctrackType/,
    );
    for (const node of ['n1', 'n2'] as const) await cluster.drain(node);
    expect(await told(temp, CHOSEN)).toMatch(/! slurm +no node takes jobs now \(2 drained\)/);
    for (const node of ['n1', 'n2'] as const) await cluster.resume(node);
  });

  test('says that the cluster does not answer, and what to do', async ({ cluster, temp }) => {
    const complaint = 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)';
    const env = inTheWay(cluster, temp, { scontrol: `echo '${complaint}' >&2; exit 1` });
    expect(await told(temp, { ...CHOSEN, ...env })).toMatch(
      /✗ slurm +the cluster does not answer: .*Unable to contact slurm controller.*\n +→ .*slurmctld/,
    );
  });

  test('says that there is no Slurm, where jobs are to run there, and nothing to whoever does not use it', async ({
    temp,
  }) => {
    expect(await told(temp, { ...CHOSEN, PATH: '/nowhere' })).toMatch(
      /✗ slurm .*not on PATH\n +→ Install slurm-client/,
    );
    expect(await told(temp, { PATH: '/nowhere' })).toBe('');
  });
});
