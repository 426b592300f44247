import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

/** What a bundle host passes for a setting that the user has left empty. */
const unset = (key: string): string => ['$', `{user_config.${key}}`].join('');

describe('the folder of a worker', () => {
  test('is the server’s own for a client without roots', async ({ temp }) => {
    const session = await Session.open(temp);
    expect((await session.start('pwd', { wait_secs: 30 })).log_tail).toBe(temp.scratch);
    await session.close();
  });

  test('is the client’s first root that is a folder here, and relative paths count from it', async ({
    temp,
  }) => {
    const project = temp.at('pro ject');
    mkdirSync(join(project, 'sub'), { recursive: true });
    const roots = ['file:///no/such/folder', pathToFileURL(project).href];
    const session = await Session.open(temp, { roots });
    expect((await session.start('pwd', { wait_secs: 30 })).log_tail).toBe(project);
    const job = await session.start('pwd; echo 1 > r.txt', {
      cwd: 'sub',
      result_path: 'r.txt',
      wait_secs: 30,
    });
    expect(job).toMatchObject({ state: 'done', result_text: '1\n' });
    const { data } = await session.call('list_jobs', { folder: '.' });
    expect(data.jobs).toHaveLength(2);
    await session.close();
  });
});

describe('the environment of a worker', () => {
  test('is the server’s, without what belongs to the session of a harness', async ({ temp }) => {
    const env = {
      MINE: 'kept',
      ANTHROPIC_API_KEY: 'kept',
      CLAUDE_CODE_USE_BEDROCK: 'kept',
      CLAUDE_PROJECT_DIR: 'kept',
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: 'x',
      CLAUDE_CODE_MESSAGING_TOKEN: 'secret',
      CLAUDE_CODE_SSE_PORT: '1',
    };
    const session = await Session.open(temp, { env });
    const job = await session.start('env', { wait_secs: 30 });
    const names = String(job.log_tail)
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(Object.keys(env).filter((name) => names.includes(name))).toEqual([
      'MINE',
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_PROJECT_DIR',
    ]);
    await session.close();
  });

  test('takes changes for one job: set, unset, and back what was taken out', async ({ temp }) => {
    const session = await Session.open(temp, { env: { GONE: '1', CLAUDECODE: '1' } });
    const job = await session.start('test -z "$GONE" && echo "unset $ADDED $CLAUDECODE"', {
      env: { GONE: null, ADDED: 'a b', CLAUDECODE: '2' },
      wait_secs: 30,
    });
    expect(job.log_tail).toBe('unset a b 2');
    await session.close();
  });

  test('never reaches the disk', async ({ temp }) => {
    const session = await Session.open(temp, { env: { TOKEN_OF_SERVER: 'hush-hush-1' } });
    const job = await session.start('true', { env: { TOKEN_OF_JOB: 'hush-hush-2' }, wait_secs: 30 });
    for (const file of ['meta.json', 'pid', 'outcome.json', 'status', 'out.log']) {
      expect(readFileSync(join(job.job_dir, file), 'utf8')).not.toContain('hush-hush');
    }
    await session.close();
  });
});

describe('settings', () => {
  test('come by flag as well as by environment, and a flag wins', async ({ temp }) => {
    const elsewhere = temp.at('elsewhere');
    const session = await Session.open(temp, { args: ['--root', elsewhere, '--idle-secs=77'] });
    const job = await session.start('true', { wait_secs: 30 });
    expect(job.job_dir.startsWith(elsewhere)).toBe(true);
    expect(readFileSync(join(job.job_dir, 'meta.json'), 'utf8')).toContain('"idle": 77');
    await session.close();
  });

  test('that a bundle host left unset count as unset, and an unknown flag is told', async ({ temp }) => {
    const session = await Session.open(temp, {
      args: ['--idle-secs', unset('idle'), '--what', '1'],
      env: { CE_PEER_HARD_SECS: unset('hard') },
    });
    const job = await session.start('true', { wait_secs: 30 });
    expect(readFileSync(join(job.job_dir, 'meta.json'), 'utf8')).toContain('"idle": 240');
    expect(session.stderr).toContain('unknown flag "--what"');
    await session.close();
  });
});
