/** Arguments arrive byte for byte, or are refused before anything runs. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../../../runner-core/errors.ts';
import { launchQuery, spawnWorker } from '../../../runner-core/platform/win32-worker.ts';
import { resolveWindowsWorker } from '../../../runner-core/platform/windows-launch.ts';
import { hostileArguments } from '../hostile-arguments.ts';
import { npmShim } from '../npm-shim.ts';
import { fixture, metaOf, settled } from './jobs.ts';
import { scenario } from './scenario.ts';
import { pidsIn, type TempBase } from './temp-base.ts';

const [, ECHO = ''] = fixture('echo-args.cjs');

/** Runs a worker as the supervisor does, without one; what it was given, or why it was refused. */
async function arrive(
  temp: TempBase,
  program: string,
  args: readonly string[],
  index: number,
): Promise<string[] | string> {
  const echoed = temp.at(`echo-${index}.json`);
  const env = { ...temp.env, ECHO_OUT: echoed };
  let argv: string[];
  try {
    argv = resolveWindowsWorker([program, ...args], launchQuery(temp.scratch, env)).argv;
  } catch (error) {
    if (error instanceof RunnerError) return error.message;
    throw error;
  }
  const logFd = openSync(temp.at(`log-${index}`), 'a');
  const present = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const worker = await spawnWorker({
    argv,
    cwd: temp.scratch,
    env: Object.fromEntries(present),
    logFd,
    jobId: `test-${process.pid}-${performance.now()}`,
  });
  await worker.ended;
  closeSync(logFd);
  if (!existsSync(echoed)) return `nothing arrived: ${readFileSync(temp.at(`log-${index}`), 'utf8')}`;
  return JSON.parse(readFileSync(echoed, 'utf8'));
}

/** Every list arrives as it is, or was refused before anything ran; nothing else was run. */
async function arriveOrRefused(temp: TempBase, program: string): Promise<number> {
  const lists = hostileArguments('ran.txt');
  let refused = 0;
  for (const [index, args] of lists.entries()) {
    const got = await arrive(temp, program, args, index);
    if (typeof got === 'string') {
      match(got, /argument \d+ holds/, `${JSON.stringify(args)} gave ${got}`);
      refused += 1;
    } else {
      deepEqual(got, args);
    }
    ok(!existsSync(temp.at('ran.txt')), `${JSON.stringify(args)} ran a command`);
  }
  return lists.length - refused;
}

scenario('a .cmd shim gets 30 hostile argument lists exactly, or they are refused', async (temp) => {
  const shim = temp.file('shim.cmd', `@"${process.execPath}" "${ECHO}" %*\r\n`);
  const arrived = await arriveOrRefused(temp, shim);
  ok(arrived >= 10, `only ${arrived} arrived`);
});

scenario('a program gets 30 hostile argument lists exactly', async (temp) => {
  // All at once: what an argument becomes does not depend on those beside it, unless it is wrong.
  const args = hostileArguments('ran.txt').flatMap((list) => ['[', ...list, ']']);
  deepEqual(await arrive(temp, process.execPath, [ECHO, ...args], 0), args);
});

scenario("npm's shim of a tool gets arguments exactly that cmd.exe could not take", async (temp) => {
  mkdirSync(temp.at('bin\\node_modules\\tool'), { recursive: true });
  temp.file('bin\\tool.cmd', npmShim('node_modules\\tool\\cli.js'));
  // Beside it npm puts a shell script of the same name.
  temp.file('bin\\tool', '#!/bin/sh\n');
  temp.file('bin\\node_modules\\tool\\cli.js', readFileSync(ECHO));
  const args = ['-p', 'two\nlines, "quotes" & 100 %PATH%', ''];
  const out = temp.at('echo.json');
  const path = `${temp.at('bin')};${join(process.execPath, '..')}`;
  const job = await temp.start(['tool', ...args], ['--env', `PATH=${path}`, '--env', `ECHO_OUT=${out}`]);
  equal(await settled(job), 'done');
  deepEqual(JSON.parse(readFileSync(out, 'utf8')), args);
  equal(metaOf(job).worker_argv[0]?.toLowerCase(), temp.at('bin\\tool.cmd').toLowerCase());
});

scenario(
  'arguments that a batch file cannot be given are refused before anything is detached',
  async (temp) => {
    const shim = temp.file('shim.cmd', `@"${process.execPath}" "${ECHO}" %*\r\n`);
    const { code, stderr } = await temp.cli([
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--',
      shim,
      'a',
      '"&calc',
    ]);
    equal(code, 1);
    match(stderr, /argument 2 holds a quote together with/);
    const id = /job (\d{8}T\d{6}Z-\w+)/.exec(stderr)?.[1] ?? '';
    equal(pidsIn(temp.job(id).dir), undefined);
  },
);
