import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { ask, atRest, settled, start } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, readMeta } from '../support/read-job.ts';
import type { CliRun } from '../support/run-cli.ts';
import { snapshotOf } from '../support/snapshot.ts';
import { test } from '../support/temp-base.ts';

const LONG = 'n'.repeat(300);
const NAMES = ['--skill', 's', '--run-id', 'r'];
const withName = (flag: string, value: string): string[] => [
  ...NAMES.filter((_, at, all) => all[at - (at % 2)] !== flag),
  flag,
  value,
];

/** One line that says what is wrong (after the usage, where the call itself is malformed), and no stack trace. */
function expectComplaint(run: CliRun, code: number, says: RegExp): void {
  expect({ code: run.code, stdout: run.stdout.toString() }).toEqual({ code, stdout: '' });
  const lines = run.stderr.trimEnd().split('\n');
  expect(lines.length, run.stderr).toBeLessThanOrEqual(code === 2 ? 2 : 1);
  for (const line of lines) expect(line).toMatch(/^peer-jobs: /);
  expect(lines.at(-1)).toMatch(says);
  expect(run.stderr).not.toMatch(/\n\s+at |node:|internal error|undefined|\[object/);
}

interface BadCall {
  readonly what: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}

const WORKER = ['--', 'touch', 'ran'];

const starts: readonly BadCall[] = [
  { what: 'no worker', args: ['start', ...NAMES], code: 1, says: /no worker argv; place it after "--"/ },
  { what: 'an empty worker', args: ['start', ...NAMES, '--'], code: 1, says: /no worker argv/ },
  {
    what: 'no names',
    args: ['start', ...WORKER],
    code: 2,
    says: /--skill NAME and --run-id NAME; for example/,
  },
  {
    what: 'nothing',
    args: ['start'],
    code: 2,
    says: /--skill NAME, --run-id NAME and the worker after "--"/,
  },
  {
    what: 'an unknown flag',
    args: ['start', ...NAMES, '--nope', ...WORKER],
    code: 2,
    says: /unknown flag --nope; peer-jobs start --help lists them/,
  },
  {
    what: 'a misspelt flag',
    args: ['start', ...NAMES, '--lable', 'x', ...WORKER],
    code: 2,
    says: /unknown flag --lable; did you mean --label\?/,
  },
  {
    what: 'a flag in place of a value',
    args: ['start', '--skill', '--run-id', 'r', ...WORKER],
    code: 2,
    says: /--skill NAME: its value is missing/,
  },
  { what: 'a flag without its value', args: ['start', ...NAMES, '--label'], code: 2, says: /--label/ },
  {
    what: 'a worker without --',
    args: ['start', ...NAMES, 'touch', '-c', 'ran'],
    code: 2,
    says: /"touch"; put the worker after "--": peer-jobs start … -- touch …/,
  },
  {
    what: 'a word before --',
    args: ['start', ...NAMES, 'word', ...WORKER],
    code: 2,
    says: /"word" before "--", where only flags stand/,
  },
  ...['--skill', '--run-id', '--label'].flatMap((flag) =>
    [
      ['a path', 'a/b'],
      ['two dots', '..'],
      ['only dots', '....'],
      ['a space', 'a b'],
      ['a newline', 'a\nb'],
      ['a backslash', 'a\\b'],
      ['300 characters', LONG],
      ['a letter beyond ASCII', 'é'],
    ].map(([what = '', value = '']) => ({
      what: `${what} as ${flag}`,
      args: ['start', ...withName(flag, value), ...WORKER],
      code: 1,
      says: new RegExp(`${flag.slice(2).replace('-', '.')}|${flag}`),
    })),
  ),
  ...['0x10', 'ten', '-5', 'NaN', 'Infinity', ''].map((value) => ({
    what: `--idle-secs ${JSON.stringify(value)}`,
    args: ['start', ...NAMES, `--idle-secs=${value}`, ...WORKER],
    code: 2,
    says: /--idle-secs/,
  })),
  {
    what: 'an idle window of 0',
    args: ['start', ...NAMES, '--idle-secs', '0', ...WORKER],
    code: 1,
    says: /idle/,
  },
  {
    what: 'a hard window of 0',
    args: ['start', ...NAMES, '--hard-secs', '0', ...WORKER],
    code: 2,
    says: /--hard-secs/,
  },
  {
    what: 'a window beyond any timer',
    args: ['start', ...NAMES, '--hard-secs', '99999999999', ...WORKER],
    code: 2,
    says: /--hard-secs/,
  },
  {
    what: 'half a byte',
    args: ['start', ...NAMES, '--log-max-bytes', '1.5', ...WORKER],
    code: 2,
    says: /--log-max-bytes/,
  },
  {
    what: '--env without =',
    args: ['start', ...NAMES, '--env', 'NAME', ...WORKER],
    code: 2,
    says: /NAME=VALUE/,
  },
  {
    what: 'a variable that would be lost',
    args: ['start', ...NAMES, '--env', '__proto__=x', ...WORKER],
    code: 2,
    says: /--env: __proto__ cannot be set/,
  },
  {
    what: 'an unknown result format',
    args: ['start', ...NAMES, '--result-format', 'xml', ...WORKER],
    code: 2,
    says: /--result-format/,
  },
];

describe.concurrent('a start is refused, and leaves nothing, with', () => {
  test.for(starts)('$what', async ({ args, code, says }, { temp }) => {
    expectComplaint(await temp.run('ours', args), code, says);
    expect(snapshotOf(temp.base)).toEqual([]);
    expect(listDirectory(temp.scratch)).toEqual([]);
  });
});

describe('a worker that cannot be run leaves never-started, and nothing detached:', () => {
  test.for([
    { what: 'an empty name', worker: '', says: /worker ""/ },
    { what: 'not on PATH', worker: 'no-such-program', says: /not found on PATH/ },
    { what: 'a path to nothing', worker: './no/such', says: /does not exist/ },
    { what: 'a directory', worker: './dir', says: /not a regular file/ },
    { what: 'not executable', worker: './plain', says: /not executable; chmod/ },
    { what: 'a dangling link', worker: './dangling', says: /does not exist/ },
  ])('$what', async ({ worker, says }, { temp }) => {
    mkdirSync(temp.at('dir'));
    temp.file('plain', 'x', 0o644);
    symlinkSync('nowhere', temp.at('dangling'));
    const run = await temp.run('ours', ['start', ...NAMES, '--', worker]);
    expectComplaint(run, 1, says);
    const [dir = expect.fail('no job directory')] = jobDirsBelow(temp.root);
    expect(run.stderr).toContain(dir);
    expect(listDirectory(dir)).toEqual(['meta.json']);
    expect(await ask(temp, 'status', dir)).toBe('0 "never-started\\n"');
    expect(await ask(temp, 'reap', dir)).toBe('0 ""');
    expect(listDirectory(dir)).toEqual(['meta.json']);
  });

  test.for([
    { what: 'a --cwd that is not there', cwd: 'nowhere', says: /working directory .*ENOENT.*existing/ },
    { what: 'a --cwd that is a file', cwd: 'file', says: /working directory .* is not a directory/ },
  ])('$what', async ({ cwd, says }, { temp }) => {
    temp.file('file', '');
    expectComplaint(await temp.run('ours', ['start', ...NAMES, '--cwd', cwd, ...WORKER]), 1, says);
    expect(listDirectory(temp.scratch)).toEqual(['file']);
  });
});

describe('arguments of any size and content reach the worker whole:', () => {
  test('100 KB in one', async ({ temp }) => {
    const argument = 'x'.repeat(100_000);
    const job = await start(temp, sh('printf "%s" "$1" | wc -c', argument));
    expect(await settled(job)).toBe('done');
    expect(await ask(temp, 'log', job.id)).toBe('0 "100000\\n"');
    expect(readMeta(job.dir).worker_argv.at(-1)).toBe(argument);
  });

  test('quotes, newlines, dashes and text beyond ASCII', async ({ temp }) => {
    const odd = ['--', '-n', "it's", '"', '$(touch ran)', '`touch ran`', 'a\nb', '\\', '', '日本', '*'];
    const job = await start(temp, sh('shift 0; for a in "$@"; do printf "<%s>" "$a"; done', ...odd));
    expect(await settled(job)).toBe('done');
    expect(await ask(temp, 'log', job.id)).toBe(
      `0 ${JSON.stringify(odd.map((word) => `<${word}>`).join(''))}`,
    );
    expect(listDirectory(temp.scratch)).toEqual([]);
  });
});

/** Among several references an empty one is unknown like any other; alone it is no argument at all. */
const takesSeveral = (command: string): boolean => ['status', 'wait', 'reap'].includes(command);

const REFS = [
  '*',
  '[0-9]*',
  '2026*',
  '../x',
  'a\\b',
  'a\nb',
  '..',
  '.',
  LONG,
  'x'.repeat(5000),
  '%2e',
  '~',
  '/',
  '/etc',
  '{}',
];

describe.concurrent('a reference that names no job is unknown to', () => {
  test.for(['status', 'wait', 'result', 'reap', 'log'])('%s', async (command, { temp }) => {
    const job = await start(temp, sh('true'));
    await atRest(job);
    const before = snapshotOf(job.dir);
    for (const ref of REFS) {
      const run = await temp.run('ours', [command, ref]);
      expectComplaint(run, 1, /job/);
    }
    expectComplaint(await temp.run('ours', [command, '']), takesSeveral(command) ? 1 : 2, /job/i);
    expect(snapshotOf(job.dir)).toEqual(before);
  });
});

const calls: readonly BadCall[] = [
  { what: 'no command', args: [], code: 2, says: /--help/ },
  { what: 'an unknown command', args: ['explode'], code: 2, says: /"explode"; one of start, status, / },
  { what: 'a misspelt command', args: ['strat'], code: 2, says: /did you mean start\?/ },
  { what: 'log of nothing', args: ['log'], code: 2, says: /name a job: its id, or the path/ },
  { what: 'show of nothing', args: ['show'], code: 2, says: /name a job: its id, or the path/ },
  { what: 'log of an empty word', args: ['log', ''], code: 2, says: /name a job: its id, or the path/ },
  { what: 'a list of nothing', args: ['list', '--limit', '0'], code: 2, says: /--limit must be more than 0/ },
  {
    what: 'too long a list',
    args: ['list', '--limit', '1001'],
    code: 2,
    says: /--limit must be at most 1000/,
  },
  { what: 'half a job', args: ['list', '--limit', '1.5'], code: 2, says: /--limit must be a whole number/ },
  { what: 'an empty path', args: ['result', '--path='], code: 2, says: /--path must not be empty/ },
  { what: 'status of nothing', args: ['status'], code: 2, says: /at least one job/ },
  { what: 'wait for nothing', args: ['wait'], code: 2, says: /at least one job/ },
  { what: 'reap of nothing', args: ['reap'], code: 2, says: /at least one job/ },
  { what: 'result of nothing', args: ['result'], code: 2, says: /job id or a path/ },
  { what: 'result of two', args: ['result', 'a', 'b'], code: 2, says: /one job at a time/ },
  { what: 'a bad number of seconds', args: ['wait', '--max-secs', 'x', 'a'], code: 2, says: /--max-secs/ },
  { what: 'a bad skill', args: ['status', '--skill', 'a/b', 'a'], code: 1, says: /skill/ },
  {
    what: 'an unknown state',
    args: ['list', '--state', 'runing'],
    code: 2,
    says: /--state must be one of "done", .* not "runing"; did you mean running\?/,
  },
  { what: 'a path of somebody', args: ['result', '--path', '/proc/1/mem'], code: 4, says: /refus/ },
  { what: 'a job directory that is none', args: ['status', '/tmp'], code: 1, says: /job/ },
];

describe.concurrent('each command complains in one line about', () => {
  test.for(calls)('$what', async ({ args, code, says }, { temp }) => {
    expectComplaint(await temp.run('ours', args), code, says);
    expect(snapshotOf(temp.base)).toEqual([]);
  });
});

test('a directory that merely has a job id for a name is no way to another place', async ({ temp }) => {
  const job = await start(temp, sh('true'));
  await settled(job);
  mkdirSync(temp.at('20260101T000000Z-00000000'));
  writeFileSync(temp.at('20260101T000000Z-00000000/status'), 'done\n');
  const run = await temp.run('ours', ['status', './20260101T000000Z-00000000']);
  expect(run.stdout.toString()).toBe('done\n');
  const reaped: CliRun = await temp.run('ours', ['reap', './20260101T000000Z-00000000']);
  expect(reaped.code).toBe(0);
  expect(listDirectory(temp.at('20260101T000000Z-00000000'))).toEqual(['status']);
});
