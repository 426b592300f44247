import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobNamed, pidsOf, ready, settled } from '../support/jobs.ts';
import {
  descendantsOf,
  isAlive,
  listPids,
  openFilesOf,
  readEnviron,
  readStat,
  workingDirectoryOf,
} from '../support/proc.ts';
import { commandOf, sh } from '../support/programs.ts';
import { jobDirsBelow, readPids } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

/** Works until `go` exists, so that the caller is certainly dead before the job ends. */
const WORKER = sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo finished > out');
const START = ['start', '--skill', 's', '--run-id', 'r', '--result-path', 'out', '--', ...WORKER];

/**
 * A caller that starts a job and then lives on: a shell that leads a session of its own, with the CLI as a child and
 * one more descendant, as an agent's shell has.
 */
async function caller(temp: TempBase): Promise<{ pid: number; job: Job; hangUp: () => void }> {
  const script = 'job=$("$@") || exit 1; echo "$job"; sleep 50 & wait';
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...commandOf('ours'), ...START], {
    cwd: temp.scratch,
    env: temp.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? expect.fail('no caller');
  temp.ledger.register(pid, 'the caller');
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.on('error', () => undefined);
  const id = await eventually(() => /^(\S+)\n/.exec(out)?.[1]);
  const hangUp = (): void => {
    for (const pipe of child.stdio) pipe?.destroy();
  };
  return { pid, job: jobNamed(temp, id), hangUp };
}

async function goesOnToTheEnd(temp: TempBase, job: Job): Promise<void> {
  const { supervisor_pid, worker_pid } = pidsOf(job);
  expect([supervisor_pid, worker_pid].map(isAlive)).toEqual([true, true]);
  temp.file('go', '');
  expect(await settled(job)).toBe('done');
  expect(await ask(temp, 'result', job.id)).toBe('0 "finished\\n"');
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ended already
    }
  }
}

describe('a job goes on to its end when its caller is killed', () => {
  test('by its process group', async ({ temp }) => {
    const { pid, job } = await caller(temp);
    await ready(job);
    process.kill(-pid, 'SIGKILL');
    await eventually(() => !isAlive(pid));
    await goesOnToTheEnd(temp, job);
  });

  test('by its session', async ({ temp }) => {
    const { pid, job } = await caller(temp);
    await ready(job);
    killAll(listPids().filter((other) => readStat(other)?.session === pid));
    await eventually(() => !isAlive(pid));
    await goesOnToTheEnd(temp, job);
  });

  test('by its tree, walked by parent pid', async ({ temp }) => {
    const { pid, job } = await caller(temp);
    await ready(job);
    const tree = [pid, ...descendantsOf(pid)];
    const { supervisor_pid, worker_pid } = pidsOf(job);
    expect(tree).not.toContain(supervisor_pid);
    expect(tree).not.toContain(worker_pid);
    killAll(tree);
    await eventually(() => !isAlive(pid));
    await goesOnToTheEnd(temp, job);
  });

  test('with a hang-up and every pipe closed', async ({ temp }) => {
    const { pid, job, hangUp } = await caller(temp);
    await ready(job);
    hangUp();
    process.kill(-pid, 'SIGHUP');
    await eventually(() => !isAlive(pid));
    await goesOnToTheEnd(temp, job);
  });

  test('at once with the id, before it could read it', async ({ temp }) => {
    // The command itself is killed as soon as the job directory tells of a worker; nobody has read its stdout.
    const [file, ...args] = [...commandOf('ours'), ...START];
    const child = spawn(file, args, { cwd: temp.scratch, env: temp.env, detached: true, stdio: 'ignore' });
    const pid = child.pid ?? expect.fail('no caller');
    const exited = once(child, 'exit');
    const dir = await eventually(() => jobDirsBelow(temp.base).find((path) => readPids(path) !== undefined));
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // it was faster
    }
    await exited;
    const job = jobNamed(temp, dir.slice(dir.lastIndexOf('/') + 1));
    await ready(job);
    await goesOnToTheEnd(temp, job);
  });
});

describe('what a supervisor and its worker have of their caller', () => {
  test('is no descriptor, not even one that was opened to be inherited', async ({ temp }) => {
    const secret = temp.file('secret', 'of the caller');
    const held = openSync(secret, 'r');
    const pass: ('pipe' | number)[] = Array.from({ length: 201 }, () => held);
    try {
      // Node gives descriptors 3 to 200 of the child as inherited; the shell then runs the command with all of them.
      const [file, ...args] = [...commandOf('ours'), ...START];
      const child = spawn(file, args, {
        cwd: temp.scratch,
        env: temp.env,
        stdio: ['ignore', 'pipe', 'pipe', ...pass.slice(3)],
      });
      let out = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk;
      });
      await once(child, 'close');
      const job = jobNamed(temp, out.trim());
      await ready(job);
      const { supervisor_pid, worker_pid } = pidsOf(job);
      for (const pid of [supervisor_pid, worker_pid]) {
        const files = [...openFilesOf(pid)];
        expect(files.length).toBeGreaterThan(2);
        expect(files.filter(([, target]) => target === secret)).toEqual([]);
      }
      const own = (pid: number) => [...openFilesOf(pid)].filter(([fd]) => fd <= 2);
      expect(own(supervisor_pid).map(([, target]) => target)).toEqual([
        '/dev/null',
        '/dev/null',
        '/dev/null',
      ]);
      expect([...openFilesOf(worker_pid).keys()].filter((fd) => fd > 2 && fd !== 255)).toEqual([]);
      temp.file('go', '');
      expect(await settled(job)).toBe('done');
    } finally {
      closeSync(held);
    }
  });

  test('is no pipe: the output of start ends with start', async ({ temp }) => {
    // `run` fails unless every pipe of the command is closed when it has ended.
    const run = await temp.run('ours', ['start', '--skill', 's', '--run-id', 'r', '--', 'sleep', '60'], {
      timeoutMs: 45_000,
    });
    const job = jobNamed(temp, run.stdout.toString().trim());
    await ask(temp, 'reap', job.id);
  });

  test('is no environment of the caller, for the supervisor: secrets stay with the worker', async ({
    temp,
  }) => {
    const run = await temp.run('ours', START, {
      extra: { SECRET: 'hunter2', NODE_OPTIONS: '--no-warnings', LD_LIBRARY_PATH: '/nowhere' },
    });
    const job = jobNamed(temp, run.stdout.toString().trim());
    await ready(job);
    const { supervisor_pid, worker_pid } = pidsOf(job);
    const names = [...(readEnviron(supervisor_pid)?.keys() ?? [])];
    expect(names).not.toContain('SECRET');
    expect(names).not.toContain('NODE_OPTIONS');
    expect(readEnviron(worker_pid)?.get('SECRET')).toBe('hunter2');
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
  });

  test('is no working directory: the folder of the caller can be removed', async ({ temp }) => {
    const run = await temp.run('ours', START);
    const job = jobNamed(temp, run.stdout.toString().trim());
    await ready(job);
    expect(workingDirectoryOf(pidsOf(job).supervisor_pid)).toBe('/');
    await ask(temp, 'reap', job.id);
  });
});
