/** Numbers, clocks and disks that mislead: nothing is cancelled, settled or left behind for it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, jobNamed, jobsBelow, settled } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { listDirectory, readLog } from '../support/read-job.ts';
import { onTinyDisk } from '../support/tiny-disk.ts';
import { clusterTest, onSlurm, startThere, stateThere } from './on-cluster.ts';
import { inTheWay } from './programs.ts';

const test = clusterTest();
const isRoot = process.geteuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: a submission onto a full disk: needs root\n');

const counting = sh('echo ran');
const words = ['start', '--skill', 's', '--run-id', 'r', '--engine', 'slurm'];

onSlurm('a number that is another job’s', () => {
  test('ends nothing of that one: neither a reap of the queued job, nor its being asked for', async ({
    cluster,
    temp,
    free,
  }) => {
    const flags = ['--parsable', '-o', '/dev/null', '--job-name=bystander', '--wrap', 'sleep 600'];
    const bystander = await cluster.slurm('sbatch', ...flags);
    const state = async () => (await cluster.jobs()).find(({ id }) => id === bystander)?.state;
    const env = inTheWay(cluster, temp, { sbatch: `real "$@" >/dev/null; echo ${bystander}` });
    const reaped = await startThere(temp, counting, { env });
    expect(await ask(temp, 'reap', reaped.id)).toBe('0 ""');
    const asked = await startThere(temp, counting, { env });
    expect(await ask(temp, 'status', asked.id)).toBe('0 "running\\n"');
    expect(await state()).toBe('PENDING');
    await free();
    expect(await settled(asked)).toBe('done');
    expect(readLog(asked.dir)).toBe('ran\n');
    expect(await state()).toBe('RUNNING');
    await cluster.slurm('scancel', bystander);
    await eventually(async () => (await stateThere(cluster, reaped)) !== 'PENDING');
    expect(readLog(reaped.dir)).toBe('');
  });
});

onSlurm('an sbatch that complains and submits all the same', () => {
  test('is looked up by the name of the job, which runs', async ({ cluster, temp }) => {
    const sbatch = 'real "$@" >/dev/null; echo "sbatch: error: quota nearly used" >&2; echo fine';
    const job = await startThere(temp, counting, { env: inTheWay(cluster, temp, { sbatch }) });
    expect(await settled(job)).toBe('done');
  });
});

onSlurm('a host whose clock is ten minutes ahead', () => {
  test('does not take a submission on its way for one that never arrives', async ({ cluster, temp }) => {
    const sbatch = `script=$(cat); touch asked; while [ ! -e on ]; do sleep 0.05; done; printf '%s' "$script" | real "$@"`;
    const env = inTheWay(cluster, temp, { sbatch });
    const starting = temp.run('ours', [...words, '--', ...counting], { extra: env });
    await eventually(() => listDirectory(temp.scratch).includes('asked'));
    const clock = temp.file('clock.cjs', 'const now = Date.now; Date.now = () => now() + 600_000;\n');
    const [there] = jobsBelow(temp.base);
    const looking = await temp.run('ours', ['status', there?.id ?? ''], {
      extra: { NODE_OPTIONS: `--require=${clock}` },
    });
    temp.file('on', '');
    expect(looking.stdout.toString()).toBe('running\n');
    const job = jobNamed(temp, (await starting).stdout.toString().trim());
    expect(await settled(job)).toBe('done');
  });
});

onSlurm('a disk that fills up while Slurm refuses a job', () => {
  test.skipIf(!isRoot)(
    'keeps neither its environment nor a job that looks alive',
    async ({ cluster, temp }) => {
      await onTinyDisk(temp, '256k', async () => {
        const fills = `head -c 300000 /dev/zero >'${join(temp.base, 'fills')}' 2>/dev/null`;
        const env = inTheWay(cluster, temp, { sbatch: `cat >/dev/null; ${fills}; real --partition=nowhere` });
        const refused = await temp.run('ours', [...words, '--env', 'SECRET=4711', '--', 'true'], {
          extra: env,
        });
        expect(refused.stderr).toMatch(/Slurm did not take job/);
        const [job] = jobsBelow(temp.base);
        expect(listDirectory(job?.dir ?? '')).not.toContain('.launch-spec');
        expect(await ask(temp, 'status', job?.id ?? '')).toBe('0 "never-started\\n"');
      });
    },
  );
});
