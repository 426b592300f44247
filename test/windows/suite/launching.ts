import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../../../runner-core/errors.ts';
import { launchQuery, spawnWorker } from '../../../runner-core/platform/win32-worker.ts';
import { resolveWindowsWorker } from '../../../runner-core/platform/windows-launch.ts';
import { hostileArguments } from '../hostile-arguments.ts';
import { fixture, js, logOf, settled } from './jobs.ts';
import { scenario } from './scenario.ts';
import { pidsIn, type TempBase, textOf } from './temp-base.ts';

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
  for (const [index, args] of hostileArguments('ran.txt').entries()) {
    deepEqual(await arrive(temp, process.execPath, [ECHO, ...args], index), args);
  }
});

/** As npm writes it beside every program that it installs. */
const NPM_SHIM = [
  '@ECHO off',
  'GOTO start',
  ':find_dp0',
  'SET dp0=%~dp0',
  'EXIT /b',
  ':start',
  'SETLOCAL',
  'CALL :find_dp0',
  '',
  'IF EXIST "%dp0%\\node.exe" (',
  '  SET "_prog=%dp0%\\node.exe"',
  ') ELSE (',
  '  SET "_prog=node"',
  '  SET PATHEXT=%PATHEXT:;.JS;=;%',
  ')',
  '',
  'endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\node_modules\\tool\\cli.js" %*',
  '',
].join('\r\n');

scenario("npm's shim of a tool gets arguments exactly that cmd.exe could not take", async (temp) => {
  mkdirSync(temp.at('bin\\node_modules\\tool'), { recursive: true });
  temp.file('bin\\tool.cmd', NPM_SHIM);
  // Beside it npm puts a shell script of the same name.
  temp.file('bin\\tool', '#!/bin/sh\n');
  temp.file('bin\\node_modules\\tool\\cli.js', readFileSync(ECHO));
  const args = ['-p', 'two\nlines, "quotes" & 100 %PATH%', ''];
  const out = temp.at('echo.json');
  const path = `${temp.at('bin')};${join(process.execPath, '..')}`;
  const job = await temp.start(['tool', ...args], ['--env', `PATH=${path}`, '--env', `ECHO_OUT=${out}`]);
  equal(await settled(job), 'done');
  deepEqual(JSON.parse(readFileSync(out, 'utf8')), args);
  const meta = JSON.parse(textOf(job.dir, 'meta.json') ?? '');
  equal(meta.worker_argv[0].toLowerCase(), temp.at('bin\\tool.cmd').toLowerCase());
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

scenario(
  'a shell script is run by the POSIX shell that is set, env assignments before it too; both are on record',
  async (temp) => {
    // Node under another name stands for the shell: what counts is who is started with which arguments.
    const shell = temp.at('bash.exe');
    linkSync(process.execPath, shell);
    const script = temp.file('x.sh', "require('node:fs').writeSync(1, JSON.stringify(process.argv))");
    const flags = ['--env', `CE_PEER_BASH=${shell}`];
    const bare = await temp.start([script, 'a b'], flags);
    equal(await settled(bare), 'done');
    deepEqual(JSON.parse(logOf(bare)), [shell, script, 'a b']);
    const meta = JSON.parse(textOf(bare.dir, 'meta.json') ?? '');
    deepEqual([meta.windows_posix_shell, meta.worker_argv], [shell, [script, 'a b']]);

    const named = await temp.start(['bash', script, 'c'], flags);
    equal(await settled(named), 'done');
    deepEqual(JSON.parse(logOf(named)), [shell, script, 'c']);
  },
);

scenario('without a POSIX shell but WSL a shell script is refused, and nothing is detached', async (temp) => {
  const none = ['ProgramFiles', 'ProgramFiles(x86)', 'ProgramW6432', 'LOCALAPPDATA'].flatMap((name) => [
    '--env',
    `${name}=C:\\none`,
  ]);
  const wsl = join(process.env.SystemRoot ?? '', 'System32');
  const { code, stderr } = await temp.cli([
    'start',
    '--skill',
    's',
    '--run-id',
    'r',
    ...none,
    '--env',
    `PATH=${wsl}`,
    '--',
    'bash',
    '-c',
    'true',
  ]);
  equal(code, 1);
  match(stderr, /Git for Windows|CE_PEER_BASH/);
});

scenario(
  'programs are found by PATHEXT, in folders with spaces and text beyond ASCII, and results lie there too',
  async (temp) => {
    const folder = temp.at('Ünï cödé & (x86) 日本');
    mkdirSync(folder);
    linkSync(process.execPath, join(folder, 'peer tool.exe'));
    const out = join(folder, 'rés ult.txt');
    const job = await temp.start(
      ['peer tool', '-e', `require('fs').writeFileSync(process.argv[1],'ergebnis ✓')`, out],
      ['--env', `PATH=${folder}`, '--result-path', out],
    );
    equal(await settled(job), 'done');
    const { stdout } = await temp.cli(['result', job.id]);
    equal(stdout.toString('utf8'), 'ergebnis ✓');
  },
);

scenario('jobs and results may lie deeper than 260 characters', async (temp) => {
  const deep = join(temp.root, ...Array.from({ length: 8 }, () => 'd'.repeat(40)));
  mkdirSync(deep, { recursive: true });
  const out = join(deep, 'out.txt');
  const base = join(deep, 'base');
  const { code, stdout, stderr } = await temp.cli(
    [
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      '--result-path',
      out,
      '--',
      ...js(`fs.writeFileSync(process.argv[1],'x')`, out),
    ],
    { CE_PEER_JOBS_ROOT: base },
  );
  equal(`${code} ${stderr}`, '0 ');
  const id = stdout.toString('utf8').trim();
  const { stdout: word } = await temp.cli(['wait', id], { CE_PEER_JOBS_ROOT: base });
  equal(word.toString('utf8'), 'done\n');
});

scenario('a worker that cannot be run leaves never-started, and nothing detached', async (temp) => {
  for (const program of ['no-such-program', 'C:\\no\\such.exe', temp.root]) {
    const { code, stderr } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', program]);
    equal(code, 1);
    match(stderr, /not found on PATH|does not exist or is not a regular file/);
    const id = /job (\d{8}T\d{6}Z-\w+)/.exec(stderr)?.[1] ?? '';
    equal(await temp.ask('status', id), '0 "never-started\\n"');
  }
});

scenario('a program that cannot be launched is failed, with the reason', async (temp) => {
  const text = temp.file('text.exe', 'this is no program');
  const job = await temp.start([text]);
  equal(await settled(job), 'failed');
  match(textOf(job.dir, 'reason') ?? '', /could not launch worker: CreateProcess .*not a Windows program/);
});
