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

describe('the resource peer-jobs://doctor', () => {
  const read = async (session: Session): Promise<string> => {
    const { contents } = await session.client.readResource({ uri: 'peer-jobs://doctor' });
    const [first] = contents;
    return first && 'text' in first ? String(first.text) : '';
  };

  test('tells a model under Codex which PATH, folder and variables its jobs get, and warns of what is missing', async ({
    temp,
  }) => {
    mkdirSync(temp.at('home/.cargo/bin'), { recursive: true });
    const session = await Session.open(temp, {
      name: 'codex-mcp-client',
      bare: true,
      env: { HOME: temp.at('home'), PATH: '/usr/bin:/bin' },
    });
    const text = await read(session);
    expect(text).toMatch(/^ok +client: codex-mcp-client 1; one call waits at most 280 s$/m);
    expect(text).toMatch(/^ok +PATH: programs are searched in \/usr\/bin:\/bin$/m);
    expect(text).toMatch(/^warning PATH: not searched, though there: .*home\/\.cargo\/bin.* → /m);
    expect(text).toContain(`relative paths count from ${temp.scratch}, where the server was started`);
    expect(text).toMatch(/^warning variables: jobs inherit no more than .*HOME, .*PATH.* → .*env_vars/m);
    expect(text).toContain(`new jobs go to ${temp.base}`);
    await session.close();
  });

  test('tells under Claude Code what is kept from jobs, by name alone', async ({ temp }) => {
    const exports = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`EXPORT_${n}`, 'kept']));
    const session = await Session.open(temp, {
      name: 'claude-code',
      env: { ...exports, CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'hush-hush' },
      roots: [pathToFileURL(temp.scratch).href],
    });
    const text = await read(session);
    expect(text).toContain('one call waits as long as the job');
    expect(text).toMatch(/^ok +variables: jobs inherit .*EXPORT_1, /m);
    expect(text).toMatch(/^ok +variables: kept from jobs.*: CLAUDECODE, CLAUDE_CODE_SESSION_ID → /m);
    expect(text).not.toContain('hush-hush');
    await session.close();
  });

  test('warns where the client has named no project', async ({ temp }) => {
    const session = await Session.open(temp, { cwd: '/' });
    expect(await read(session)).toMatch(/^warning folder: relative paths count from \/, .* → .*cwd/m);
    await session.close();
  });

  test('is named where a program is not found, with the PATH that was searched', async ({ temp }) => {
    const session = await Session.open(temp, { env: { PATH: '/usr/bin:/bin' } });
    const refused = await session.call('start_job', { argv: ['no-such-program'] });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain(`looked for in PATH /usr/bin:/bin and from folder ${temp.scratch}`);
    expect(refused.text).toContain('peer-jobs://doctor');
    const other = await session.call('start_job', { argv: ['no-such-program'], env: { PATH: '/bin' } });
    expect(other.text).toContain('looked for in PATH /bin and');
    expect(session.client.getInstructions()).toContain('peer-jobs://doctor');
    await session.close();
  });
});
