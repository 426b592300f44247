import { expect } from 'vitest';
import { ask, ready, settled, start } from '../support/jobs.ts';
import { type Argv, fixture, sh } from '../support/programs.ts';
import { readOutcome, readReason, type TerminalWord } from '../support/read-job.ts';
import { test } from '../support/temp-base.ts';

interface Case {
  readonly ends: string;
  readonly worker: Argv;
  readonly result?: string;
  readonly state: TerminalWord;
  readonly reason: RegExp;
  readonly env?: Readonly<Record<string, string>>;
  readonly outcome?: Readonly<Record<string, unknown>>;
}

const NO_RESULT = /^worker exited 0 without publishing a non-empty result/;

const cases: readonly Case[] = [
  { ends: 'exit 0, none declared', worker: sh('exit 0'), state: 'done', reason: /^worker exited 0$/ },
  {
    ends: 'exit 0, result there',
    worker: sh('echo x > out'),
    result: 'out',
    state: 'done',
    reason: /^worker exited 0$/,
    outcome: { exit_code: 0, result_bytes: 2 },
  },
  { ends: 'exit 0, result absent', worker: sh('exit 0'), result: 'out', state: 'failed', reason: NO_RESULT },
  { ends: 'exit 0, result empty', worker: sh(': > out'), result: 'out', state: 'failed', reason: NO_RESULT },
  {
    ends: 'exit 0, result a directory',
    worker: sh('mkdir out'),
    result: 'out',
    state: 'failed',
    reason: NO_RESULT,
  },
  {
    ends: 'exit 0, result a link to a file',
    worker: sh('echo x > real; ln -s real out'),
    result: 'out',
    state: 'failed',
    reason: NO_RESULT,
  },
  {
    ends: 'exit 0, result a FIFO',
    worker: sh('mkfifo out'),
    result: 'out',
    state: 'failed',
    reason: NO_RESULT,
  },
  {
    ends: 'exit 7, result there',
    worker: sh('echo x > out; exit 7'),
    result: 'out',
    state: 'failed',
    reason: /^worker exited 7$/,
    outcome: { exit_code: 7, signal: null },
  },
  {
    ends: 'KILL by somebody, no result',
    worker: fixture('kills-itself.py', 'KILL'),
    result: 'out',
    state: 'died-without-result',
    reason: /^worker killed by signal 9 with no result evidence$/,
    outcome: { exit_code: null, signal: 'SIGKILL' },
  },
  {
    ends: 'SEGV, result there',
    worker: fixture('kills-itself.py', 'SEGV', 'out', 'x'),
    result: 'out',
    state: 'done',
    reason: /^worker killed by signal 11 after publishing its result$/,
    outcome: { signal: 'SIGSEGV' },
  },
  {
    ends: 'result over its cap',
    worker: sh('head -c 2000 /dev/zero > out'),
    result: 'out',
    state: 'failed',
    reason: /^result exceeded byte cap \(2000 > 1000 bytes\)$/,
    env: { CE_PEER_RESULT_MAX_BYTES: '1000' },
  },
  {
    ends: 'log over its cap, exit 0',
    worker: sh('head -c 2000 /dev/zero'),
    state: 'failed',
    reason: /^out\.log exceeded byte cap/,
    env: { CE_PEER_LOG_MAX_BYTES: '1000' },
  },
];

test.for(cases)(
  'a worker that ends with $ends is $state',
  async ({ worker, result, state, reason, env, outcome }, { temp }) => {
    const job = await start(temp, worker, {
      ...(env && { env }),
      flags: result === undefined ? [] : ['--result-path', result],
    });
    expect(await settled(job)).toBe(state);
    expect(readReason(job.dir)).toMatch(reason);
    expect(readOutcome(job.dir)).toMatchObject({ state, reason: readReason(job.dir), ...outcome });
  },
);

test('a program that cannot be launched is failed, with the reason', async ({ temp }) => {
  const program = temp.file('bad', '#!/no/such/interpreter\n', 0o755);
  const job = await start(temp, [program]);
  expect(await settled(job)).toBe('failed');
  expect(readReason(job.dir)).toMatch(/^could not launch worker: /);
});

test('text without an interpreter line is never run through a shell', async ({ temp }) => {
  const job = await start(temp, [temp.file('script', 'touch ran\n', 0o755)]);
  expect(await settled(job)).toBe('failed');
  expect(readReason(job.dir)).toMatch(/^could not launch worker: .*Exec format error/);
});

test("a result that lay there before and was not touched is not this job's", async ({ temp }) => {
  temp.file('out', 'of an earlier job');
  const job = await start(temp, sh('exit 0'), { flags: ['--result-path', 'out'] });
  expect(await settled(job)).toBe('failed');
  expect(readReason(job.dir)).toMatch(/unchanged since before the start/);
  expect(await ask(temp, 'result', job.id)).toBe('3 ""');
});

test("a result that was written anew is this job's, even with the same bytes", async ({ temp }) => {
  temp.file('out', 'same');
  const job = await start(temp, sh('printf same > out'), { flags: ['--result-path', 'out'] });
  expect(await settled(job)).toBe('done');
});

test.for([
  { what: 'a whole document', text: '{"a": [1, 2]}', state: 'done', reason: /^worker exited 0$/ },
  {
    what: 'a truncated document',
    text: '{"a": [1, 2',
    state: 'failed',
    reason: /not valid JSON: .*position 11/,
  },
  { what: 'no JSON at all', text: 'done.', state: 'failed', reason: /not valid JSON: / },
  {
    what: 'a document after a byte order mark',
    text: '\\357\\273\\277{}',
    state: 'failed',
    reason: /position 0/,
  },
  { what: 'bytes that are not UTF-8', text: '"\\377"', state: 'failed', reason: /not valid JSON: not UTF-8/ },
])('with --result-format json, $what is $state', async ({ text, state, reason }, { temp }) => {
  const job = await start(temp, sh(`printf '${text}' > out`), {
    flags: ['--result-path', 'out', '--result-format', 'json'],
  });
  expect(await settled(job)).toBe(state);
  expect(readReason(job.dir)).toMatch(reason);
});

test('a reap that arrives when the worker has ended already leaves it done', async ({ temp }) => {
  // The supervisor is stopped while the worker ends, so that it learns of both at once.
  const job = await start(temp, sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.02; done; echo x > out'), {
    flags: ['--result-path', 'out'],
  });
  await ready(job);
  temp.file('go', '');
  await ask(temp, 'reap', job.id);
  const state = await settled(job);
  // Whichever came first: the record must say what was.
  expect(['done', 'timeout']).toContain(state);
  expect(readReason(job.dir)).toBe(
    state === 'done' ? 'worker exited 0' : 'reaped on request before completion',
  );
});
