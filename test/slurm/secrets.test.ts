/** What a job is given arrives unchanged, and is told to nobody else. */
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobsBelow, ready, settled, start } from '../support/jobs.ts';
import { fixture, sh } from '../support/programs.ts';
import { listDirectory, readLog } from '../support/read-job.ts';
import type { Cluster } from '../support/slurm-cluster.ts';
import { clusterTest, numberOf, onSlurm, startThere, stateThere } from './on-cluster.ts';

const test = clusterTest();

const HOSTILE = [
  '',
  ' ',
  'a b',
  '$HOME',
  '*',
  '%j %x %u',
  '`id`',
  '"\'\\',
  'line\nbreak',
  '\ttab\r',
  '-',
  '--export=ALL',
  'ünïcödé 💥',
  '\u0001\u001b[31m',
  'x'.repeat(100_000),
];

/** Of the worker alone: what Slurm, its supervisor or the interpreter add by themselves. */
const ADDED = /^(SLURM|SLURMD)_|^(CE_PEER_JOB_ID|ENVIRONMENT|HOSTNAME|TMPDIR|LC_CTYPE)$/;

/** Everything below a directory that holds one of the words, in its name or its bytes. */
function mentions(root: string, words: readonly string[]): string[] {
  return entriesOf(root).flatMap((entry) => {
    const path = join(root, entry.name);
    let bytes: Buffer | undefined;
    try {
      bytes = entry.isFile() ? readFileSync(path) : undefined;
    } catch {
      // gone since it was listed
    }
    const own = words.filter((word) => path.includes(word) || bytes?.includes(word));
    return [...own.map((word) => `${path}: ${word}`), ...(entry.isDirectory() ? mentions(path, words) : [])];
  });
}

/** None of a directory that is gone since it was listed: Slurm removes what it had for a job that has ended. */
function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Everything that Slurm's own commands tell of a job. */
async function toldOf(cluster: Cluster, job: Job): Promise<string> {
  const number = await numberOf(job);
  const told = await Promise.all([
    cluster.slurm('scontrol', 'show', 'job', '-dd', number),
    cluster.slurm('scontrol', 'write', 'batch_script', number, '-'),
    cluster.slurm('squeue', '-h', '-t', 'all', '-o', '%all', '-j', number),
  ]);
  return told.join('\n');
}

const ARGUMENT = 'argument-4711-of-the-worker';
const VARIABLE = 'value-4711-of-a-variable';
const FLAG = 'value-4711-of-a-flag';

onSlurm('a job on Slurm', () => {
  test('gets its arguments byte for byte', async ({ temp }) => {
    const job = await startThere(temp, fixture('tells-surroundings.py', ...HOSTILE));
    expect(await settled(job)).toBe('done');
    expect(JSON.parse(readLog(job.dir)).arguments).toEqual(HOSTILE);
  });

  test('gets its caller’s environment exactly, as a local one does', async ({ temp }) => {
    const env = {
      ...Object.fromEntries(HOSTILE.map((value, index) => [`HOSTILE_${index}`, value])),
      'WITH.dot-and%percent': 'x',
      TMPDIR: temp.scratch,
      HOSTNAME: 'of the caller',
      LC_ALL: 'C.UTF-8',
      ENVIRONMENT: 'of the caller',
      SBATCH_TIMELIMIT: '7',
      KRB5CCNAME: 'FILE:/nowhere',
    };
    const flags = ['--unset-env', 'HOME', '--unset-env', 'LOGNAME', '--env', 'ADDED=a=b\nc', '--label', 'l'];
    const worker = fixture('tells-surroundings.py');
    const jobs = [await start(temp, worker, { env, flags }), await startThere(temp, worker, { env, flags })];
    const [here, there] = await Promise.all(
      jobs.map(async (job) => {
        expect(await settled(job)).toBe('done');
        return new Map<string, string>(Object.entries(JSON.parse(readLog(job.dir)).environment));
      }),
    );
    if (!here || !there) throw new Error('two jobs');
    expect(here.get('HOSTILE_8')).toBe('line\nbreak');
    for (const [name, value] of here)
      if (name !== 'CE_PEER_JOB_ID') expect([name, there.get(name)]).toEqual([name, value]);
    expect([...there.keys()].filter((name) => !here.has(name) && !ADDED.test(name))).toEqual([]);
  });

  test('may lie in a directory whose name means something to Slurm or to a shell', async ({ temp }) => {
    const root = temp.at(`100% %j "it's" $HOME\\`);
    const job = await startThere(temp, sh('echo here; echo x > out'), { env: { CE_PEER_JOBS_ROOT: root } });
    expect(job.dir.startsWith(root)).toBe(true);
    expect(await settled(job)).toBe('done');
    expect(readLog(job.dir)).toBe('here\n');
    expect(listDirectory(job.dir)).toContain('engine.log');
  });

  test('may have a PATH of its own, on which Slurm’s programs are not', async ({ temp }) => {
    const flags = ['--env', 'PATH=/nowhere', '--unset-env', 'SLURM_CONF'];
    const job = await startThere(temp, sh('echo "$PATH"; /bin/sleep 0'), { flags });
    expect(await settled(job)).toBe('done');
    expect(readLog(job.dir)).toBe('/nowhere\n');
  });

  test('is told what Slurm sets for it, and nothing of a job that its caller is in', async ({ temp }) => {
    const env = { SLURM_JOB_ID: '999999', SLURM_STEP_ID: '7', SLURM_OF_AN_OUTER_JOB: 'x' };
    const job = await startThere(temp, fixture('tells-surroundings.py'), { env, flags: ['--cpus', '2'] });
    expect(await settled(job)).toBe('done');
    const { environment } = JSON.parse(readLog(job.dir));
    expect(environment).toMatchObject({ SLURM_JOB_ID: await numberOf(job), SLURM_CPUS_PER_TASK: '2' });
    expect(environment).not.toHaveProperty('SLURM_OF_AN_OUTER_JOB');
    expect(environment).not.toHaveProperty('SLURM_STEP_ID');
  });

  test('shows neither arguments nor environment in what Slurm tells and keeps of it', async ({
    cluster,
    temp,
    free,
  }) => {
    const job = await startThere(
      temp,
      sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done', ARGUMENT),
      {
        flags: ['--env', `OF_A_FLAG=${FLAG}`],
        env: { OF_THE_CALLER: VARIABLE },
      },
    );
    const words = [ARGUMENT, VARIABLE, FLAG, 'OF_A_FLAG', 'OF_THE_CALLER'];
    const expectSilence = async (): Promise<void> => {
      const told = await toldOf(cluster, job);
      expect(told).toContain(job.id);
      expect(words.filter((word) => told.includes(word))).toEqual([]);
      expect(mentions(cluster.dir, words)).toEqual([]);
    };
    await eventually(async () => (await stateThere(cluster, job)) === 'PENDING');
    // Queued, the environment has to lie somewhere: in one file, for the user alone.
    expect(mentions(temp.base, [VARIABLE]).map((line) => line.slice(temp.base.length))).toEqual([
      expect.stringMatching(/\/\.launch-spec: /),
    ]);
    await expectSilence();
    await free();
    await ready(job);
    await expectSilence();
    expect(mentions(temp.base, [VARIABLE, FLAG])).toEqual([]);
    temp.file('go', '');
    await settled(job);
    await expectSilence();
    expect(mentions(temp.base, [VARIABLE, FLAG])).toEqual([]);
  });

  test('leaves no environment on the disk when it never runs', async ({ cluster, temp, free }) => {
    const options = { env: { OF_THE_CALLER: VARIABLE } };
    const reaped = await startThere(temp, sh('true'), options);
    await ask(temp, 'reap', reaped.id);
    const cancelled = await startThere(temp, sh('true'), options);
    await cluster.slurm('scancel', await numberOf(cancelled));
    await eventually(async () => (await ask(temp, 'status', cancelled.id)) === '0 "died-without-result\\n"');
    const refused = await temp.run('ours', [
      ...['start', '--skill', 's', '--run-id', 'r', '--engine', 'slurm', '--partition', 'nowhere', '--env'],
      ...[`OF_A_FLAG=${VARIABLE}`, '--', 'true'],
    ]);
    expect(refused.code).toBe(1);
    expect(jobsBelow(temp.base).length).toBe(3);
    expect(mentions(temp.base, [VARIABLE])).toEqual([]);
    await free();
  });
});
