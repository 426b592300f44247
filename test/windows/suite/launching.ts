import { deepEqual, equal, match } from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDir } from '../../../runner-core/platform/win32-security.ts';
import { js, logOf, metaOf, settled } from './jobs.ts';
import { scenario } from './scenario.ts';
import { textOf } from './temp-base.ts';

scenario(
  'a shell script is run by the POSIX shell that is set, env assignments before it too; both are on record',
  async (temp) => {
    // Node under another name stands for the shell: what counts is who is started with which arguments.
    const shell = temp.at('bash.exe');
    copyFileSync(process.execPath, shell);
    const script = temp.file('x.sh', "require('node:fs').writeSync(1, JSON.stringify(process.argv))");
    const flags = ['--env', `CE_PEER_BASH=${shell}`];
    const bare = await temp.start([script, 'a b'], flags);
    equal(await settled(bare), 'done');
    deepEqual(JSON.parse(logOf(bare)), [shell, script, 'a b']);
    const meta = metaOf(bare);
    deepEqual([meta.windows_posix_shell, meta.worker_argv], [shell, [script, 'a b']]);

    const named = await temp.start(['bash', script, 'c'], flags);
    equal(await settled(named), 'done');
    deepEqual(JSON.parse(logOf(named)), [shell, script, 'c']);

    // Node stands for env(1) too, and tells what it was asked to do.
    copyFileSync(process.execPath, temp.at('env.exe'));
    const tells = temp.file(
      'tells.cjs',
      "require('fs').writeSync(1,JSON.stringify(process.argv.slice(2)));process.exit()",
    );
    const assigned = await temp.start(
      ['env', 'A=1', 'bash', script, 'd'],
      [
        ...flags,
        '--env',
        `PATH=${temp.scratch}`,
        '--env',
        `NODE_OPTIONS=--require=${tells.replaceAll('\\', '/')}`,
      ],
    );
    equal(await settled(assigned), 'done');
    deepEqual(JSON.parse(logOf(assigned)), [shell, script, 'd']);
    equal(metaOf(assigned).windows_posix_shell, shell);
  },
);

scenario('without a POSIX shell but WSL a shell script is refused, and nothing is detached', async (temp) => {
  // Where the launcher of WSL lies.
  const system = temp.at('win\\System32');
  mkdirSync(system, { recursive: true });
  temp.file('win\\System32\\bash.exe', '');
  const none = [
    'ProgramFiles',
    'ProgramFiles(x86)',
    'ProgramW6432',
    'LOCALAPPDATA',
    'CLAUDE_CODE_GIT_BASH_PATH',
  ];
  const env = {
    ...Object.fromEntries(none.map((name) => [name, 'C:\\none'])),
    SystemRoot: temp.at('win'),
    PATH: system,
  };
  const flags = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const { code, stderr } = await temp.cli([
    ...['start', '--skill', 's', '--run-id', 'r', ...flags],
    ...['--', 'bash', '-c', 'true'],
  ]);
  equal(code, 1);
  match(stderr, /Git for Windows|CE_PEER_BASH/);
  const id = /job (\d{8}T\d{6}Z-\w+)/.exec(stderr)?.[1] ?? '';
  deepEqual(readdirSync(temp.job(id).dir), ['meta.json']);
});

scenario(
  'programs are found by PATHEXT, in folders with spaces and text beyond ASCII, and results lie there too',
  async (temp) => {
    const folder = temp.at('Ünï cödé & (x86) 日本');
    mkdirSync(folder);
    copyFileSync(process.execPath, join(folder, 'peer tool.exe'));
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

scenario(
  'a folder is one under every spelling of its name: its jobs are found, and a home is refused',
  async (temp) => {
    const [flags, worker] = [
      ['--run-id', 'r'],
      ['--', ...js('')],
    ];
    const { stdout } = await temp.cli(['start', '--skill', 'ce-work', ...flags, ...worker]);
    const id = stdout.toString('utf8').trim();
    const CE_WORK_RUNS_ROOT = join(temp.base, 'ce-work').toUpperCase();
    const { code, stderr } = await temp.cli(['wait', id], { CE_WORK_RUNS_ROOT });
    equal(`${code} ${stderr}`, '0 ');

    const home = temp.at('home');
    makePrivateDir(home);
    temp.file('home\\letter.txt', '');
    const env = { USERPROFILE: home, CE_PEER_JOBS_ROOT: home.toUpperCase() };
    const refused = await temp.cli(['start', '--skill', 's', ...flags, ...worker], env);
    equal(refused.code, 1);
    match(refused.stderr, /holds files that are not peer jobs/);
    deepEqual(readdirSync(home), ['letter.txt']);
  },
);

scenario(
  'a run or a skill has no name that Windows keeps for a device, or reads without its end',
  async (temp) => {
    for (const [skill, run] of [
      ['s', 'nul'],
      ['s', 'r.'],
      ['Con.x', 'r'],
    ] as const) {
      const { code, stderr } = await temp.cli(['start', '--skill', skill, '--run-id', run, '--', ...js('')]);
      equal(code, 1);
      match(stderr, /invalid (run id|skill) ".*": Windows/);
    }
    deepEqual(readdirSync(temp.root), ['scratch']);
  },
);

for (const [what, program, says] of [
  ['not on PATH', 'no-such-program', /not found on PATH/],
  ['a path to nothing', 'C:\\no\\such.exe', /does not exist or is not a regular file/],
  ['a directory', 'C:\\', /does not exist or is not a regular file/],
] as const) {
  scenario(
    `a worker that cannot be run leaves never-started, and nothing detached: ${what}`,
    async (temp) => {
      const { code, stderr } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', program]);
      equal(code, 1);
      match(stderr, says);
      const id = /job (\d{8}T\d{6}Z-\w+)/.exec(stderr)?.[1] ?? '';
      equal(await temp.ask('status', id), '0 "never-started\\n"');
      deepEqual(readdirSync(temp.job(id).dir), ['meta.json']);
    },
  );
}

scenario('a program that cannot be launched is failed, with the reason', async (temp) => {
  const text = temp.file('text.exe', 'this is no program');
  const job = await temp.start([text]);
  equal(await settled(job), 'failed');
  match(textOf(job.dir, 'reason') ?? '', /could not launch worker: CreateProcess .*not a Windows program/);
});
