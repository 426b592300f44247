/** How running jobs end: by themselves, by us, and by Slurm. */
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, gone, jobsBelow, kill, ready, settled } from '../support/jobs.ts';
import { type Argv, fixture, sh } from '../support/programs.ts';
import { listDirectory, readLog, readOutcome, readPids, readReason } from '../support/read-job.ts';
import { clusterTest, endOf, numberOf, onSlurm, overThere, startThere, stateThere } from './on-cluster.ts';

/** From TERM to KILL: enough for a supervisor on a slow box to end a tree and to write the record. */
const test = clusterTest({ killWaitSecs: 8 });

/** What tries to stay. */
const ESCAPES: readonly [string, Argv][] = [
  ['a child in a session of its own', fixture('setsid-child.py')],
  ['a double fork', fixture('double-fork-child.py')],
  ['a double fork without environment or descriptors', fixture('double-fork-scrubbed-env.py', 'close-all')],
  ['deafness to TERM', fixture('ignores-term.sh')],
];

/** Ends by itself, and leaves somebody behind. */
const LEAVING: readonly [string, Argv][] = [
  ['a child in a session of its own', fixture('setsid-child.py', 0)],
  ['a double fork', fixture('double-fork-child.py', 0)],
];

onSlurm.concurrent('a limit of time', () => {
  test('ends a job whose time is up: that is a timeout, and said', { timeout: 300_000 }, async ({
    cluster,
    temp,
  }) => {
    // Slurm counts in minutes, and looks every half minute.
    const job = await startThere(temp, sh('echo "ready $$"; exec sleep 600'), {
      flags: ['--time-limit-secs', '1'],
    });
    await ready(job);
    expect(await settled(job, 240_000)).toBe('timeout');
    expect(readReason(job.dir)).toBe('the time limit of the Slurm job passed');
    await eventually(async () => (await stateThere(cluster, job)) === 'TIMEOUT');
  });
});

onSlurm.concurrent('a reap', () => {
  test.for(ESCAPES)('ends %s', async ([, worker], { cluster, temp }) => {
    const job = await startThere(temp, worker);
    const pids = await ready(job);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(endOf(job)).toEqual({
      state: 'timeout',
      reason: 'reaped on request before completion',
      by: 'supervisor',
    });
    await gone(pids);
    await overThere(cluster, job);
  });

  test('of a job whose supervisor was killed says so, and leaves nobody', async ({ cluster, temp }) => {
    const job = await startThere(temp, fixture('double-fork-child.py'));
    await ready(job);
    const { supervisor_pid } = await eventually(() => readPids(job.dir));
    await kill(supervisor_pid);
    await overThere(cluster, job);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(endOf(job)).toMatchObject({ by: 'caller', reason: expect.stringContaining('supervisor') });
    await temp.ledger.endAll();
  });
});

onSlurm.concurrent('a worker that ends', () => {
  test.for(LEAVING)('does not leave %s behind', async ([, worker], { temp }) => {
    const job = await startThere(temp, worker);
    const pids = await ready(job);
    expect(await settled(job)).toBe('done');
    await gone(pids);
  });

  test.for([
    ['exit 3', 'failed', 'worker exited 3', { exit_code: 3, signal: null }],
    ['kill -9 $$', 'died-without-result', /SIGKILL|signal 9/, { exit_code: null, signal: 'SIGKILL' }],
    ['kill -TERM $$; sleep 5', 'died-without-result', /SIGTERM|signal 15/, { signal: 'SIGTERM' }],
    ['echo x > out', 'done', 'worker exited 0', { result_bytes: 2 }],
  ] as const)('by `%s` is recorded as that', async ([script, state, reason, outcome], { cluster, temp }) => {
    const job = await startThere(temp, sh(script), { flags: ['--result-path', 'out'] });
    expect(await settled(job)).toBe(state);
    expect(readReason(job.dir)).toMatch(reason);
    expect(readOutcome(job.dir)).toMatchObject({ ...outcome, classified_by: 'supervisor' });
    expect(await overThere(cluster, job)).toBe(state === 'done' ? 'COMPLETED' : 'FAILED');
  });
});

onSlurm.concurrent('the windows', () => {
  test('of silence and of time hold on a node', async ({ temp }) => {
    const silent = await startThere(temp, sh('exec sleep 60'), { flags: ['--idle-secs', '1'] });
    const endless = await startThere(temp, sh('while :; do echo x; sleep 0.1; done'), {
      flags: ['--hard-secs', '2'],
    });
    expect(await settled(silent)).toBe('timeout');
    expect(readReason(silent.dir)).toBe('no output for 1s (idle window)');
    expect(await settled(endless)).toBe('timeout');
    expect(readReason(endless.dir)).toBe('hard cap 2s exceeded');
  });

  test('of size hold on a node', async ({ temp }) => {
    const flood = await startThere(temp, ['yes'], { flags: ['--log-max-bytes', '100000'] });
    const flags = ['--result-path', 'out', '--result-max-bytes', '10'];
    const large = await startThere(temp, sh('echo 0123456789012345 > out'), { flags });
    expect(await settled(flood)).toBe('failed');
    expect(readReason(flood.dir)).toMatch(/^out\.log exceeded byte cap/);
    expect(readLog(flood.dir).length).toBe(100_000);
    expect(await settled(large)).toBe('failed');
  });
});

onSlurm.concurrent('Slurm itself', () => {
  test('cancels a job: its tree is ended, and its record says by whom', async ({ cluster, temp }) => {
    const job = await startThere(temp, fixture('setsid-child.py'));
    const pids = await ready(job);
    await cluster.slurm('scancel', await numberOf(job));
    expect(await settled(job)).toBe('timeout');
    expect(endOf(job)).toMatchObject({ by: 'supervisor', reason: 'cancelled in Slurm before completion' });
    await gone(pids);
    expect(await overThere(cluster, job)).toBe('CANCELLED');
  });

  test('cancels a deaf one, and KILL comes before the grace is over: the record is there', async ({
    cluster,
    temp,
  }) => {
    const job = await startThere(temp, fixture('ignores-term.sh'), { env: { CE_PEER_GRACE_SECS: '60' } });
    const pids = await ready(job);
    await cluster.slurm('scancel', await numberOf(job));
    expect(await settled(job)).toBe('timeout');
    expect(endOf(job)).toMatchObject({ by: 'supervisor' });
    await gone(pids);
  });

  test('sees a supervisor killed: the next question finds that out', async ({ cluster, temp }) => {
    const job = await startThere(temp, sh('echo "ready $$"; exec sleep 60'));
    await ready(job);
    const { supervisor_pid } = await eventually(() => readPids(job.dir));
    await kill(supervisor_pid);
    await overThere(cluster, job);
    // What Slurm has said is good for ten seconds in the process that asked; these are others.
    await eventually(async () => (await ask(temp, 'status', job.id)) === '0 "died-without-result\\n"');
    expect(endOf(job).reason).toMatch(/^its supervisor was killed; Slurm says FAILED/);
    // linuxproc does not find everybody; cgroup would.
    await temp.ledger.endAll();
  });

  test('holds a job up, and lets it go on', async ({ cluster, temp }) => {
    const job = await startThere(temp, sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done'));
    await ready(job);
    await cluster.slurm('scontrol', 'suspend', await numberOf(job));
    await eventually(async () => (await stateThere(cluster, job)) === 'SUSPENDED');
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    await cluster.slurm('scontrol', 'resume', await numberOf(job));
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
  });

  test('refuses a job: start says why, and nothing was started', async ({ cluster, temp }) => {
    for (const flags of [
      ['--partition', 'nowhere'],
      ['--constraint', 'nothing-has-it'],
      ['--memory-mb', '900000'],
      ['--gpus', '1'],
    ]) {
      const run = await temp.run('ours', [
        'start',
        '--skill',
        's',
        '--run-id',
        'r',
        '--engine',
        'slurm',
        ...flags,
        '--',
        'true',
      ]);
      expect(run.stderr).toMatch(
        /Slurm did not take job .*(partition|feature|configuration|gres|memory|node)/i,
      );
      expect(run.code).toBe(1);
    }
    expect((await temp.run('ours', ['list', '--json'])).stdout.toString()).not.toMatch(
      /"state": "(?!never-started)/,
    );
    const refused = jobsBelow(temp.base).map(({ id }) => id);
    expect(refused).toHaveLength(4);
    const left = (await cluster.jobs()).filter(({ name }) => refused.includes(name));
    // Of some that it refuses, Slurm keeps a record all the same.
    expect(left.filter(({ state }) => state !== 'FAILED')).toEqual([]);
  });

  test('is asked for what was wanted, and for nothing else', async ({ cluster, temp }) => {
    const flags = [
      '--partition',
      'main',
      '--time-limit-secs',
      '90',
      '--memory-mb',
      '100',
      '--cpus',
      '2',
      '--run-id',
      'r',
    ];
    const job = await startThere(temp, sh('true'), { flags });
    const told = await cluster.slurm('scontrol', 'show', 'job', '-o', await numberOf(job));
    expect(told).toMatch(/ Partition=main /);
    expect(told).toMatch(/ TimeLimit=00:02:00 /);
    expect(told).toMatch(/ MinMemoryNode=100M /);
    expect(told).toMatch(/ CPUs\/Task=2 /);
    expect(told).toMatch(/ Requeue=0 /);
    expect(await settled(job)).toBe('done');
  });

  test.for([
    ['--partition', 'main --wrap=id'],
    ['--partition', '--wrap=id'],
    ['--constraint', 'a b'],
    ['--cpus', '0'],
    ['--time-limit-secs', '1:00'],
    ['--memory-mb', '1.5'],
    ['--engine', 'pbs'],
  ] as const)('never sees %s %j', async ([flag, value], { temp }) => {
    const args = [
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--engine',
      'slurm',
      `${flag}=${value}`,
      '--',
      'true',
    ];
    expect((await temp.run('ours', args)).code).toBe(2);
    expect(listDirectory(temp.root)).toEqual(['scratch']);
  });
});
