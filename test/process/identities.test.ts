import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  ask,
  gone,
  type Job,
  kill,
  killSupervisor,
  pidsOf,
  ready,
  recordOf,
  settled,
  start,
} from '../support/jobs.ts';
import { commandLineOf, isAlive, listPids, openFilesOf, readEnviron, readStat } from '../support/proc.ts';
import { commandOf, fixture, referenceMissing, sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, readReason, readStatus } from '../support/read-job.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const QUESTIONS = [['status'], ['wait', '--max-secs', '0'], ['list'], ['reap']] as const;
const isRoot = process.geteuid?.() === 0;
const bootId = existsSync('/proc/sys/kernel/random/boot_id')
  ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  : '';

/** A process that is no job's, would die of anything it is sent, and tells of a stop. */
function bystander(temp: TempBase): number {
  const child = spawn('sleep', ['300'], { stdio: 'ignore', detached: true, env: {} });
  const pid = child.pid ?? expect.fail('no bystander');
  temp.ledger.register(pid, 'bystander');
  return pid;
}

/** It lives and was not stopped; after that it may go. */
async function unharmed(pid: number): Promise<void> {
  expect(isAlive(pid)).toBe(true);
  await eventually(() => readStat(pid)?.state === 'S');
  await kill(pid);
}

/** The identity that our records give a living process. */
function recordedIdentity(pid: number, boot = bootId, namespace = '4026531836'): string {
  return `${boot}/${namespace}/${readStat(pid)?.startTicks}`;
}

/** A job whose processes are all dead, without a terminal record, and with `pid` as given. */
async function withPidRecord(temp: TempBase, record: unknown): Promise<Job> {
  const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
  await ready(job);
  await kill(await killSupervisor(job));
  writeFileSync(join(job.dir, 'pid'), typeof record === 'string' ? record : `${JSON.stringify(record)}\n`);
  return job;
}

async function askAll(temp: TempBase, job: Job): Promise<void> {
  for (const [command, ...flags] of QUESTIONS) {
    await ask(temp, command, ...flags, ...(command === 'list' ? [] : [job.id]));
  }
}

describe('a recorded number that is another process by now is never signalled:', () => {
  test.for(['supervisor', 'worker', 'supervisor and worker'])(
    '%s, with the identity of the dead',
    async (who, { temp }) => {
      const foreign = bystander(temp);
      const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
      await ready(job);
      const { supervisor_pid, worker_pid } = pidsOf(job);
      const before = JSON.parse(readFileSync(join(job.dir, 'pid'), 'utf8'));
      await kill(supervisor_pid);
      await kill(worker_pid);
      const forged = { ...before };
      if (who.includes('supervisor')) forged.supervisor_pid = foreign;
      if (who.includes('worker')) forged.worker_pid = foreign;
      writeFileSync(join(job.dir, 'pid'), `${JSON.stringify(forged)}\n`);
      await askAll(temp, job);
      await unharmed(foreign);
      expect(readStatus(job.dir)).toBe('died-without-result');
    },
  );

  test('as the reference records it, without an identity, long after', async ({ temp }) => {
    const foreign = bystander(temp);
    const job = await withPidRecord(temp, {
      supervisor_pid: foreign,
      worker_pid: foreign,
      supervisor_pgid: foreign,
    });
    // The record is a day old: the bystander was started long after it.
    const meta = JSON.parse(readFileSync(join(job.dir, 'meta.json'), 'utf8'));
    writeFileSync(
      join(job.dir, 'meta.json'),
      JSON.stringify({ ...meta, started_at: '2026-01-01T00:00:00Z' }),
    );
    utimesSync(join(job.dir, 'pid'), 1_767_225_600, 1_767_225_600);
    await askAll(temp, job);
    await unharmed(foreign);
    expect(readStatus(job.dir)).toBe('died-without-result');
  });

  test('recorded in an earlier boot, with the same number and the same start', async ({ temp }) => {
    const foreign = bystander(temp);
    const identity = recordedIdentity(foreign, '00000000-0000-0000-0000-000000000000');
    const job = await withPidRecord(temp, {
      ...{ supervisor_pid: foreign, supervisor_identity: identity },
      ...{ worker_pid: foreign, worker_identity: identity, boot: '00000000-0000-0000-0000-000000000000' },
    });
    await askAll(temp, job);
    await unharmed(foreign);
    expect(readStatus(job.dir)).toBe('died-without-result');
  });

  test('recorded in a pid namespace that is gone, with the same number and the same start', async ({
    temp,
  }) => {
    const foreign = bystander(temp);
    const identity = recordedIdentity(foreign, bootId, '4026999999');
    const job = await withPidRecord(temp, {
      ...{ supervisor_pid: foreign, supervisor_identity: identity },
      ...{ worker_pid: foreign, worker_identity: identity, boot: bootId },
    });
    await askAll(temp, job);
    await unharmed(foreign);
    expect(readStatus(job.dir)).toBe('died-without-result');
  });

  test('the group of a dead worker is not its own any more', async ({ temp }) => {
    // A bystander that leads a group of the recorded number; the worker of that number has long ended.
    const foreign = bystander(temp);
    const job = await withPidRecord(temp, {
      ...{ supervisor_pid: 4194303, supervisor_identity: `${bootId}/4026531836/1` },
      ...{ worker_pid: foreign, worker_identity: `${bootId}/4026531836/1`, boot: bootId },
    });
    await askAll(temp, job);
    await unharmed(foreign);
  });
});

describe('after a reboot', () => {
  test('a job that was running is settled by the first question', async ({ temp }) => {
    for (const [command, ...flags] of QUESTIONS) {
      const job = await start(temp, sh('echo x > out; echo "ready $$"; exec sleep 60'), {
        flags: ['--result-path', `out-${command}`],
      });
      await ready(job);
      const record = readFileSync(join(job.dir, 'pid'), 'utf8');
      await kill(await killSupervisor(job));
      writeFileSync(join(job.dir, 'pid'), record.replaceAll(bootId, '11111111-1111-1111-1111-111111111111'));
      await ask(temp, command, ...flags, ...(command === 'list' ? [] : [job.id]));
      expect(`${command} ${readStatus(job.dir)}`).toBe(`${command} died-without-result`);
    }
  });
});

const TORN: readonly (readonly [string, string])[] = [
  ['empty', ''],
  ['torn', '{"supervisor_pid": 12'],
  ['no JSON', 'garbage\n'],
  ['a list', '[1, 2]\n'],
  ['without fields', '{}\n'],
  ['of strings', '{"supervisor_pid": "1", "worker_pid": "1"}\n'],
  ['of negative numbers', '{"supervisor_pid": -1, "worker_pid": -1}\n'],
  ['of zeros', '{"supervisor_pid": 0, "worker_pid": 0}\n'],
  ['of init', '{"supervisor_pid": 1, "worker_pid": 1}\n'],
  ['of numbers beyond any', '{"supervisor_pid": 1e30, "worker_pid": 99999999999}\n'],
];

describe.concurrent('a pid record that is', () => {
  test.for(TORN)('%s, with everybody dead, settles', async ([, text], { temp }) => {
    const job = await withPidRecord(temp, text);
    await ask(temp, 'status', job.id);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('died-without-result');
  });

  test.for(TORN.slice(0, 6))(
    '%s, with everybody alive, does not keep reap from ending them',
    async ([, text], { temp }) => {
      const job = await start(temp, sh('setsid sleep 60 & echo "ready $$ $!"; wait'));
      const members = await ready(job);
      const { supervisor_pid } = pidsOf(job);
      writeFileSync(join(job.dir, 'pid'), text);
      expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
      expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('timeout');
      await gone([...members, supervisor_pid]);
    },
  );

  test.for(TORN.slice(0, 6))(
    '%s, with only the worker alive, is put right: the worker is adopted',
    async ([, text], { temp }) => {
      const job = await start(temp, sh('setsid sleep 60 & echo "ready $$"; wait'));
      const [worker] = await ready(job);
      await killSupervisor(job);
      writeFileSync(join(job.dir, 'pid'), text);
      expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
      expect(pidsOf(job).worker_pid).toBe(worker);
      expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('timeout');
    },
  );

  test('missing, with everybody alive, hides nobody from reap', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
    const members = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    rmSync(join(job.dir, 'pid'));
    await ask(temp, 'reap', job.id);
    await gone([...members, supervisor_pid]);
  });

  test('a link to another job is not followed', async ({ temp }) => {
    const other = await start(temp, sh('echo "ready $$"; exec sleep 60'));
    await ready(other);
    const job = await withPidRecord(temp, '');
    rmSync(join(job.dir, 'pid'));
    symlinkSync(join(other.dir, 'pid'), join(job.dir, 'pid'));
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(await ask(temp, 'status', other.id)).toBe('0 "running\\n"');
    await ask(temp, 'reap', other.id);
  });

  test('an empty status does not keep reap from ending a living worker', async ({ temp }) => {
    for (const text of ['', 'do', 'running\n']) {
      const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
      const members = await ready(job);
      await killSupervisor(job);
      writeFileSync(join(job.dir, 'status'), text);
      expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('timeout');
      await gone(members);
    }
  });
});

describe.skipIf(referenceMissing())('a pid record as the reference writes it', () => {
  test('is adopted with its worker, and from then on has identities', async ({ temp }) => {
    const job = await start(
      temp,
      sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out'),
      {
        side: 'reference',
        flags: ['--result-path', 'out'],
      },
    );
    await ready(job);
    await killSupervisor(job);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    temp.ledger.registerJob(job.dir);
    expect(JSON.parse(readFileSync(join(job.dir, 'pid'), 'utf8'))).toMatchObject({
      worker_identity: recordedIdentity(pidsOf(job).worker_pid),
      supervisor_identity: recordedIdentity(pidsOf(job).supervisor_pid),
    });
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
  });

  test('is respected while its supervisor lives: nobody adopts, and reap asks it', async ({ temp }) => {
    const job = await start(temp, fixture('ignores-term.sh'), { side: 'reference' });
    const members = await ready(job);
    const before = pidsOf(job);
    await ask(temp, 'status', job.id);
    expect(pidsOf(job)).toEqual(before);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(await settled(job)).toBe('timeout');
    expect(existsSync(join(job.dir, 'outcome.json'))).toBe(false);
    await gone([...members, before.supervisor_pid]);
  });
});

describe('a stopped supervisor', () => {
  async function stopped(temp: TempBase, script: string): Promise<{ job: Job; supervisor: number }> {
    const job = await start(temp, sh(script), { flags: ['--result-path', 'out'] });
    await ready(job);
    const supervisor = pidsOf(job).supervisor_pid;
    process.kill(supervisor, 'SIGSTOP');
    await eventually(() => readStat(supervisor)?.state === 'T');
    return { job, supervisor };
  }

  test('is alive: nobody settles or adopts its job, and it goes on as if nothing had been', async ({
    temp,
  }) => {
    const { job, supervisor } = await stopped(
      temp,
      'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out',
    );
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    temp.file('go', '');
    await gone([pidsOf(job).worker_pid]).catch(() => undefined);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(pidsOf(job).supervisor_pid).toBe(supervisor);
    process.kill(supervisor, 'SIGCONT');
    expect(await settled(job)).toBe('done');
  });

  test('does not keep a reap from ending the job, and neither fights nor overwrites when it comes back', async ({
    temp,
  }) => {
    const { job, supervisor } = await stopped(
      temp,
      'trap \'\' TERM; echo "ready $$"; while :; do sleep 1; done',
    );
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    const record = recordOf(job);
    await gone([pidsOf(job).worker_pid]);
    if (isAlive(supervisor)) process.kill(supervisor, 'SIGCONT');
    await gone([supervisor]);
    expect(recordOf(job)).toEqual(record);
    expect(listDirectory(job.dir).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('that was asked to reap before it was stopped: what became of the worker since then is what was asked for', async ({
    temp,
  }) => {
    const job = await start(temp, sh('trap ": > told" TERM; echo "ready $$"; while :; do sleep 0.1; done'), {
      env: { CE_PEER_GRACE_SECS: '5' },
    });
    await ready(job);
    const { supervisor_pid, worker_pid } = pidsOf(job);
    const reaping = ask(temp, 'reap', job.id);
    await eventually(() => existsSync(temp.at('told')));
    process.kill(supervisor_pid, 'SIGSTOP');
    await kill(worker_pid);
    expect(await reaping).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    expect(readReason(job.dir)).toBe('reaped on request before completion');
    await gone([supervisor_pid]);
  });

  test('whose worker has published is found done by reap', async ({ temp }) => {
    const { job, supervisor } = await stopped(
      temp,
      'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out',
    );
    temp.file('go', '');
    await eventually(() => readFileSync(temp.at('out'), 'utf8') === 'x\n');
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    const record = recordOf(job);
    expect(record.status).toBe('done\n');
    await gone([supervisor]);
    expect(recordOf(job)).toEqual(record);
  });
});

describe.skipIf(!isRoot)('a pid namespace', () => {
  /** A shell in a namespace of its own, as a sandbox is: it starts a job, and everything dies with it. */
  function sandbox(temp: TempBase, worker: string): number {
    const script = `"$@" start --skill s --run-id r --result-path out -- /bin/sh -c '${worker}' && : > started; sleep 100`;
    const inside = ['/bin/sh', '-c', script, 'sh', ...commandOf('ours')];
    const child = spawn('unshare', ['--pid', '--fork', '--mount-proc', '--kill-child', ...inside], {
      cwd: temp.scratch,
      env: temp.env,
      stdio: 'ignore',
    });
    const pid = child.pid ?? expect.fail('no sandbox');
    temp.ledger.register(pid, 'sandbox');
    return pid;
  }

  async function jobIn(temp: TempBase): Promise<Job> {
    await eventually(() => existsSync(temp.at('started')));
    const [dir = expect.fail('no job')] = jobDirsBelow(temp.base);
    const job = { dir, id: dir.slice(dir.lastIndexOf('/') + 1) };
    await ready(job);
    return job;
  }

  test('that died is settled from outside at the first question, and its numbers are nobody here', async ({
    temp,
  }) => {
    const pid = sandbox(temp, 'echo "ready $$"; exec sleep 100');
    const job = await jobIn(temp);
    const { supervisor_pid, worker_pid } = pidsOf(job);
    // Small numbers: here they are other people's processes.
    expect(Math.max(supervisor_pid, worker_pid)).toBeLessThan(200);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    // Threads of the kernel come and go by themselves.
    const isSomebody = (other: number): boolean => isAlive(other) && commandLineOf(other) !== '';
    const bystanders = [supervisor_pid, worker_pid].filter(isSomebody);
    await kill(pid);
    await eventually(
      () => workersHere(job.id).length === 0 && !listPids().some((other) => holdsLog(other, job)),
    );
    expect(await ask(temp, 'status', job.id)).toBe('0 "died-without-result\\n"');
    expect([supervisor_pid, worker_pid].filter(isSomebody)).toEqual(bystanders);
  });

  test('that lives is reaped from outside, by the numbers its processes have here', async ({ temp }) => {
    const pid = sandbox(temp, 'trap : TERM; echo "ready $$"; while :; do sleep 1; done');
    const job = await jobIn(temp);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    expect(readReason(job.dir)).toBe('reaped on request before completion');
    await eventually(() => workersHere(job.id).length === 0);
    await kill(pid);
  });

  test('whose supervisor died is adopted from outside', async ({ temp }) => {
    const pid = sandbox(temp, 'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out');
    const job = await jobIn(temp);
    for (const other of listPids()) {
      if (readEnviron(other)?.has('PEER_JOBS_SUPERVISOR') && holdsLog(other, job)) await kill(other);
    }
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    temp.ledger.registerJob(job.dir);
    expect(isAlive(pidsOf(job).worker_pid)).toBe(true);
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
    await kill(pid);
  });

  test('of its own does not make a caller in it declare outsiders dead', async ({ temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
    await ready(job);
    const inside = await temp.run('ours', ['status', job.id]);
    expect(inside.stdout.toString()).toBe('running\n');
    const run = await runProgram(
      ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', ...commandOf('ours'), 'status', job.id],
      { env: temp.env },
    );
    expect(run.stdout.toString()).toBe('running\n');
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
  });
});

function holdsLog(pid: number, job: Job): boolean {
  return [...openFilesOf(pid).values()].includes(join(job.dir, 'out.log'));
}

function workersHere(jobId: string): number[] {
  return listPids().filter((pid) => readEnviron(pid)?.get('CE_PEER_JOB_ID') === jobId && isAlive(pid));
}
