import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

describe('lenient in form', () => {
  test('numbers as strings, lists as JSON text, a bare id, and null for absent are taken', async ({
    temp,
  }) => {
    const session = await Session.open(temp);
    const started = await session.call('start_job', {
      argv: '["sh", "-c", "echo ok; exit $X"]',
      wait_secs: '30',
      hard_secs: '60',
      env: '{"X": 0}',
      label: null,
      cwd: null,
      sweep: 'false',
    });
    expect(started.data).toMatchObject({ state: 'done', log_tail: 'ok' });
    const id = String(started.data.job_id);
    const bare = await session.call('wait_jobs', { jobs: id, max_secs: '5' });
    expect(bare.data.jobs?.map((row) => row.job_id)).toEqual([id]);
    const listed = await session.call('job_status', { jobs: `["${id}"]` });
    expect(listed.data.jobs?.map((row) => row.job_id)).toEqual([id]);
    const page = await session.call('job_log', { job: [id], max_bytes: '100' });
    expect(page.data.text).toBe('ok\n');
    await session.close();
  });

  test('numbers in an argv are arguments', async ({ temp }) => {
    const session = await Session.open(temp);
    const { data } = await session.call('start_job', { argv: ['sh', '-c', 'echo $0', 42], wait_secs: 30 });
    expect(data.log_tail).toBe('42');
    await session.close();
  });
});

describe('strict in meaning', () => {
  const refusals: readonly [string, string, Record<string, unknown>, RegExp][] = [
    [
      'an unknown argument',
      'start_job',
      { argv: ['true'], timeout: 5 },
      /unknown argument "timeout": this tool takes argv, /,
    ],
    ['no argv', 'start_job', {}, /argv is missing: must be a list of strings/],
    ['an empty argv', 'start_job', { argv: [] }, /argv must not be empty, not \[\]/],
    ['null for argv', 'start_job', { argv: null }, /argv is missing/],
    ['a shell line as argv', 'start_job', { argv: 'echo hi && ls' }, /pass \["sh", "-c", "echo hi && ls"\]/],
    ['a shell line in a list', 'start_job', { argv: ['npm test'] }, /pass \["sh", "-c", "npm test"\]/],
    ['a shell line in a JSON list', 'start_job', { argv: '["npm test"]' }, /pass \["sh", "-c", "npm test"\]/],
    [
      'a list in an argv',
      'start_job',
      { argv: ['ls', ['a', 'b']] },
      /argv\.1 must be a string, not \["a","b"\]/,
    ],
    [
      'words for a number',
      'start_job',
      { argv: ['true'], wait_secs: 'soon' },
      /wait_secs must be a number, not "soon"/,
    ],
    ['a negative number', 'wait_jobs', { jobs: ['x'], max_secs: -1 }, /max_secs must be at least 0, not -1/],
    ['no jobs', 'wait_jobs', { jobs: [] }, /jobs must not be empty/],
    [
      'an unknown word',
      'wait_jobs',
      { jobs: ['x'], until: 'some' },
      /until must be one of "all", "any", not "some"/,
    ],
    ['a page too large', 'job_log', { job: 'x', max_bytes: 1e9 }, /max_bytes must be at most 49152/],
    [
      'an object for a text',
      'start_job',
      { argv: ['true'], env: { A: { b: 1 } } },
      /env\.A must be a string, not \{"b":1\}/,
    ],
    [
      'a variable that would be lost',
      'start_job',
      { argv: ['true'], env: JSON.parse('{"__proto__": "x"}') },
      /env\.__proto__ cannot be used, not "x"/,
    ],
    [
      'a missing program',
      'start_job',
      { argv: ['no-such-program'] },
      /was not found on PATH; give its absolute path/,
    ],
    [
      'a missing folder',
      'start_job',
      { argv: ['true'], cwd: 'nowhere' },
      /working directory .* give an existing one/,
    ],
    ['a name that is none', 'start_job', { argv: ['true'], label: '../up' }, /invalid label/],
    ['an unknown job', 'job_result', { job: '20200101T000000Z-00000000' }, /job not found/],
    ['an id that is a path', 'job_log', { job: '../../etc/passwd' }, /no such job directory/],
    ['an id with a newline', 'job_log', { job: 'a\nb' }, /invalid job ref/],
    ['neither job nor path', 'job_result', {}, /needs a job id or a path/],
    ['a NUL in an argument', 'start_job', { argv: ['echo', 'a\0b'] }, /an argument holds a NUL/],
    [
      'half a character in an argument',
      'start_job',
      { argv: ['echo', '\ud800'] },
      /an argument holds half a/,
    ],
    [
      'half a character in a variable',
      'start_job',
      { argv: ['true'], env: { A: 'a\udc00' } },
      /the environment holds half a/,
    ],
    [
      'a NUL in the result path',
      'start_job',
      { argv: ['true'], result_path: 'a\0b' },
      /the result path holds a NUL/,
    ],
    ['a NUL in the folder', 'start_job', { argv: ['true'], cwd: '\0' }, /the working directory holds a NUL/],
  ];

  test('each is refused with what to do, without a stack trace, and nothing runs', async ({ temp }) => {
    const session = await Session.open(temp);
    for (const [what, tool, args, message] of refusals) {
      const { isError, text } = await session.call(tool, args);
      expect({ what, isError }).toEqual({ what, isError: true });
      expect(text, what).toMatch(message);
      expect(text, what).not.toMatch(/\n\s+at |zod|undefined/i);
    }
    const { data } = await session.call('list_jobs', { state: 'running' });
    expect(data.jobs).toEqual([]);
    expect(session.stderr).toBe('');
    await session.close();
  });

  test('an unknown tool is a protocol error that names it', async ({ temp }) => {
    const session = await Session.open(temp);
    await expect(session.call('stop_job', {})).rejects.toThrow(/no tool "stop_job"/);
    await session.close();
  });

  test('a folder that belongs to somebody else is refused and left as it is', async ({ temp }) => {
    const home = temp.at('home');
    const { mkdirSync, writeFileSync } = await import('node:fs');
    mkdirSync(home);
    writeFileSync(`${home}/letter.txt`, 'dear diary');
    const session = await Session.open(temp, { args: ['--root', home] });
    const { isError, text } = await session.call('start_job', { argv: ['true'] });
    expect(isError).toBe(true);
    expect(text).toContain(home);
    expect(existsSync(`${home}/adhoc`)).toBe(false);
    await session.close();
  });
});
