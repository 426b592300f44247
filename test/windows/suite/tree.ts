import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { membersOf, withJobObject } from '../../../runner-core/platform/win32-job.ts';
import { tearDown } from '../../../runner-core/platform/win32-tree.ts';
import { spawnWorker } from '../../../runner-core/platform/win32-worker.ts';
import {
  fixture,
  gone,
  isAlive,
  js,
  kill,
  lives,
  logOf,
  pidsOf,
  ready,
  reasonOf,
  recordPath,
  settled,
} from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { CLI, type Job, type TempBase } from './temp-base.ts';

/** Kills the recorded supervisor. */
async function orphan(job: Job): Promise<void> {
  await kill(pidsOf(job).supervisor_pid);
}

/** The child that `spawns-and-exits.cjs` says it has started. */
const childIn = (log: string): number => Number(/^started (\d+)/m.exec(log)?.[1]);

scenario(
  'a detached child, started as its first act, leaves nobody behind after a normal exit of the worker',
  async (temp) => {
    const job = await temp.start(fixture('spawns-and-exits.cjs'));
    equal(await settled(job), 'done');
    const child = childIn(logOf(job));
    ok(child > 0, logOf(job));
    await gone([child]);
  },
);

scenario('the child of a worker that has exited is in its job object', async (temp) => {
  const jobId = `test-${process.pid}-exited`;
  const logPath = temp.at('log');
  const logFd = openSync(logPath, 'a');
  // Without a supervisor, which would end the child at once.
  const worker = await spawnWorker({
    argv: fixture('spawns-and-exits.cjs'),
    cwd: temp.scratch,
    env: Object.fromEntries(Object.entries(temp.env).map(([name, value]) => [name, value ?? ''])),
    logFd,
    jobId,
  });
  deepEqual(await worker.ended, { kind: 'exited', code: 0 });
  closeSync(logFd);
  const child = childIn(readFileSync(logPath, 'utf8'));
  temp.watch(child);
  equal(withJobObject(worker.jobName, membersOf)?.includes(child), true);
  // Of the tree nothing but the job's id is known: it goes with its job object.
  const circumstances = { startedAfterMs: 0, startedBeforeMs: 0, jobId, runId: undefined };
  const nobody = { supervisor: undefined, worker: undefined, jobName: undefined };
  const processes = { ...nobody, jobId, jobDir: temp.scratch, logPath, circumstances };
  deepEqual(await tearDown({ processes, graceMs: 0, own: false }), []);
  equal(isAlive(child), false);
});

scenario('without its job object, an orphan whose leader exited is found by its parent pid', async (temp) => {
  const [, program = ''] = fixture('spawns-and-exits.cjs');
  const script = `cp.spawn(process.execPath,[process.argv[1],'child'],{stdio:'inherit',detached:true});const t=setInterval(()=>{if(fs.existsSync('go'))process.exit()},20)`;
  const job = await temp.start([...js(script), program]);
  const [child] = await ready(job);
  temp.watch(child);
  await orphan(job);
  temp.file('go', '');
  await gone([pidsOf(job).worker_pid]);
  // As from another session, where the name means nothing.
  writeFileSync(recordPath(job), JSON.stringify({ ...pidsOf(job), job_name: 'Local\\no-such-job' }));
  equal(await temp.ask('reap', job.id), '0 ""');
  await gone([child]);
});

scenario('a family with a detached grandchild leaves nobody behind after a reap', async (temp) => {
  const job = await temp.start(fixture('family.cjs'));
  const pids = await ready(job);
  equal(pids.length, 3);
  equal(await temp.ask('reap', job.id), '0 ""');
  equal(await temp.ask('status', job.id), '0 "timeout\\n"');
  deepEqual(pids.map(isAlive), [false, false, false]);
});

scenario(
  'with no supervisor left, reap leaves nobody of a family with a detached grandchild',
  async (temp) => {
    const job = await temp.start(fixture('family.cjs'));
    const pids = await ready(job);
    await orphan(job);
    equal(await temp.ask('reap', job.id), '0 ""');
    deepEqual(pids.map(isAlive), [false, false, false]);
    equal(await temp.ask('status', job.id), '0 "timeout\\n"');
    match(reasonOf(job), /supervisor was gone/);
  },
);

for (const way of ['directly', 'through another']) {
  scenario(
    `with no supervisor left, reap leaves nobody of an orphan, started ${way}, whose leader exited`,
    async (temp) => {
      // The leader stays until it is told, so that the supervisor can be ended before it sweeps by itself.
      const [, program = ''] = fixture('spawns-and-exits.cjs');
      const script = `cp.spawn(process.execPath,[process.argv[1],'worker',process.argv[2]],{stdio:'inherit',detached:true});const t=setInterval(()=>{if(fs.existsSync('go'))process.exit()},20)`;
      const job = await temp.start([...js(script), program, way.split(' ', 1)[0] ?? '']);
      const [child] = await ready(job);
      temp.watch(child);
      await orphan(job);
      temp.file('go', '');
      await gone([pidsOf(job).worker_pid]);
      equal(isAlive(child), true);
      equal(await temp.ask('reap', job.id), '0 ""');
      await gone([child]);
      equal(await temp.ask('status', job.id), '0 "died-without-result\\n"');
    },
  );
}

scenario(
  'a recorded number that is another process by now is never signalled: supervisor and worker, with the identity of the dead',
  async (temp) => {
    const bystander = spawn(process.execPath, ['-e', 'setInterval(()=>{},1e6)'], { stdio: 'ignore' });
    try {
      const pid = bystander.pid ?? 0;
      const job = await temp.start(lives);
      const [worker] = await ready(job);
      await orphan(job);
      await kill(worker);
      // As if the worker's number, and its supervisor's, had been given to somebody who was started later.
      const record = pidsOf(job);
      writeFileSync(recordPath(job), JSON.stringify({ ...record, worker_pid: pid, supervisor_pid: pid }));
      equal(await temp.ask('reap', job.id), '0 ""');
      equal(await temp.ask('status', job.id), '0 "died-without-result\\n"');
      equal(isAlive(pid), true);
    } finally {
      bystander.kill();
    }
  },
);

async function nested(temp: TempBase): Promise<{ outer: Job; inner: Job }> {
  const start = [CLI, 'start', '--skill', 's', '--run-id', 'r', '--', ...lives];
  const script = `const r=cp.spawnSync(process.execPath,${JSON.stringify(start)},{encoding:'utf8'});say('inner '+r.stdout.trim()+r.stderr);setInterval(()=>{},1e6)`;
  const outer = await temp.start(js(script));
  const id = await eventually(() => /^inner (\S+)/m.exec(logOf(outer))?.[1]);
  const inner = temp.job(id);
  await ready(inner);
  return { outer, inner };
}

scenario(
  'a job started from inside a job is a job of its own: it survives the reaping of the outer one',
  async (temp) => {
    const { outer, inner } = await nested(temp);
    equal(await temp.ask('reap', outer.id), '0 ""');
    await gone([pidsOf(outer).worker_pid]);
    const { supervisor_pid, worker_pid } = pidsOf(inner);
    deepEqual([isAlive(supervisor_pid), isAlive(worker_pid)], [true, true]);
    equal(await temp.ask('reap', inner.id), '0 ""');
    equal(await settled(inner), 'timeout');
    deepEqual([reasonOf(outer), isAlive(worker_pid)], ['reaped on request before completion', false]);
  },
);

scenario(
  'a job started from inside a job is a job of its own: the inner one can be reaped without the outer one noticing',
  async (temp) => {
    const { outer, inner } = await nested(temp);
    equal(await temp.ask('reap', inner.id), '0 ""');
    equal(await settled(inner), 'timeout');
    equal(await temp.ask('status', outer.id), '0 "running\\n"');
    ok(isAlive(pidsOf(outer).worker_pid));
    equal(await temp.ask('reap', outer.id), '0 ""');
  },
);
