import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmdirSync, unlinkSync } from 'node:fs';
import { fixture, isAlive, js, kill, killTree, pidsOf, ready, settled, waitsFor } from './jobs.ts';
import { runInJob } from './outer-job.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { CLI, type Job, program, runNode, type TempBase } from './temp-base.ts';

/** Works until `go` exists, so that the caller is certainly dead before the job ends. */
const WORKER = js(`${waitsFor('go')}say('ready '+process.pid);until(()=>fs.writeFileSync('out','finished'))`);
const START = [CLI, 'start', '--skill', 's', '--run-id', 'r', '--result-path', 'out', '--', ...WORKER];

/** A caller that starts a job and then lives on, as an agent's server does. */
async function caller(temp: TempBase): Promise<{ pid: number; job: Job; hangUp: () => void }> {
  const [node = '', ...args] = fixture('caller.cjs', ...START);
  const child = spawn(node, args, { cwd: temp.scratch, env: temp.env, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.on('error', () => undefined);
  const pid = child.pid ?? 0;
  temp.watch(pid);
  const id = await eventually(() => /^started (\S+)/m.exec(out)?.[1]);
  return {
    pid,
    job: temp.job(id),
    hangUp: () => {
      for (const pipe of child.stdio) pipe?.destroy();
    },
  };
}

async function goesOnToTheEnd(temp: TempBase, job: Job): Promise<void> {
  const { supervisor_pid, worker_pid } = pidsOf(job);
  deepEqual([isAlive(supervisor_pid), isAlive(worker_pid)], [true, true]);
  temp.file('go', '');
  equal(await settled(job), 'done');
  equal(await temp.ask('result', job.id), '0 "finished"');
}

scenario('a job goes on to its end when its caller is killed alone', async (temp) => {
  const { pid, job } = await caller(temp);
  await ready(job);
  await kill(pid);
  await goesOnToTheEnd(temp, job);
});

scenario(
  'a job goes on to its end when its caller is killed by its tree, walked by parent pid',
  async (temp) => {
    const { pid, job } = await caller(temp);
    await ready(job);
    await killTree(pid);
    await goesOnToTheEnd(temp, job);
  },
);

scenario('a job goes on to its end when its caller is killed with every pipe closed', async (temp) => {
  const { pid, job, hangUp } = await caller(temp);
  await ready(job);
  hangUp();
  await kill(pid);
  await goesOnToTheEnd(temp, job);
});

scenario(
  'a job goes on to its end when its caller is killed by a job object that lets processes break away',
  async (temp) => {
    const id = await runInJob(START, temp, { breakawayOk: true, killAfterwards: true });
    const job = temp.job(id);
    equal(pidsOf(job).detachment, 'free');
    await ready(job);
    await goesOnToTheEnd(temp, job);
  },
);

scenario('inside a job object that lets nobody out a job runs, and its record says so', async (temp) => {
  const id = await runInJob(START, temp, { breakawayOk: false, killAfterwards: false });
  const job = temp.job(id);
  // Whether it ends with it as well is only told by real Windows.
  match(pidsOf(job).detachment, /job object of its caller/);
  await ready(job);
  await goesOnToTheEnd(temp, job);
});

scenario(
  'what a supervisor and its worker have of their caller is no pipe: the output of start ends with start',
  async (temp) => {
    // `runNode` fails unless every pipe of the command is closed when it has ended.
    const { stdout } = await runNode(START, temp.env, temp.scratch);
    await goesOnToTheEnd(temp, temp.job(stdout.toString('utf8').trim()));
  },
);

scenario(
  'what a supervisor and its worker have of their caller is no descriptor, not even one that was opened to be inherited',
  async (temp) => {
    const secret = temp.file('secret', 'of the caller');
    // The handle shares nothing, so that as long as anybody has it, the file cannot be removed.
    const { stdout, stderr, code } = await runNode(
      [program('holds-a-handle'), secret, ...START],
      temp.env,
      temp.scratch,
    );
    equal(`${code} ${stderr}`, '0 ');
    const job = temp.job(stdout.toString('utf8').trim());
    await ready(job);
    await eventually(() => {
      unlinkSync(secret);
      return true;
    });
    await goesOnToTheEnd(temp, job);
  },
);

scenario(
  'what a supervisor and its worker have of their caller is no working directory: the folder of the caller can be removed',
  async (temp) => {
    const folder = temp.at('folder');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(folder);
    const worker = js("say('ready '+process.pid);setInterval(()=>{},1e6)");
    const { stdout } = await runNode(
      [CLI, 'start', '--skill', 's', '--run-id', 'r', '--cwd', temp.scratch, '--', ...worker],
      temp.env,
      folder,
    );
    const job = temp.job(stdout.toString('utf8').trim());
    await ready(job);
    rmdirSync(folder);
    equal(await temp.ask('reap', job.id), '0 ""');
  },
);
