import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { status } from '../../../runner-core/index.ts';
import { shownSchema, shownValue } from '../../../server/answer-shape.ts';
import { longestWaitSecs } from '../../../server/client-bounds.ts';
import { isSessionVariable } from '../../../server/harness-env.ts';
import { jobUri, parseJobUri } from '../../../server/job-uri.ts';
import { schemaOf } from '../../../server/json-schema.ts';
import { refuseShellLine } from '../../../server/refuse-shell-line.ts';
import { settingsFrom } from '../../../server/settings.ts';

describe('the longest wait', () => {
  const secs = (client: string, progress: boolean, set?: string) =>
    longestWaitSecs(client, { env: { PEER_JOBS_MAX_WAIT_SECS: set }, progress });

  test('goes by the name of the client', () => {
    expect(secs('claude-code', true)).toBeGreaterThan(24 * 3600);
    expect(secs('claude-code', false)).toBeLessThan(30 * 60);
    expect(secs('codex-mcp-client', true)).toBe(280);
    expect(secs('codex-mcp-client', false)).toBe(280);
    expect(secs('somebody', true)).toBe(45);
    expect(secs('constructor', true)).toBe(45);
  });

  test('is what the setting says, if that is a number of seconds', () => {
    expect(secs('claude-code', true, '10')).toBe(10);
    expect(secs('somebody', false, '600')).toBe(600);
    for (const unusable of ['', '0', '-1', 'soon', 'Infinity', '1e300'])
      expect(secs('x', true, unusable)).toBe(45);
  });
});

describe('a shell line for an argv', () => {
  test('is refused with the list to pass', () => {
    for (const argv of ['ls -l', 'ls', ['ls -l'], '["ls -l"]', ['a&&b'], ['echo $HOME'], 'sleep 5']) {
      expect(refuseShellLine({ argv }), JSON.stringify(argv)).toMatch(/pass \["sh", "-c", "/);
    }
  });

  test('is not suspected where the list can be meant', () => {
    const fine = [
      ['ls'],
      ['ls', '-l'],
      '["ls"]',
      ['/opt/my tools/run'],
      ['./a b'],
      ['C:\\Program Files\\x.exe'],
      [],
      5,
      null,
    ];
    for (const argv of fine) expect(refuseShellLine({ argv }), JSON.stringify(argv)).toBeUndefined();
    expect(refuseShellLine(undefined)).toBeUndefined();
    expect(refuseShellLine({})).toBeUndefined();
  });
});

describe('settings', () => {
  test('a flag, with its value after it or in it, wins over the environment', () => {
    const { env, problems } = settingsFrom(['--root', '/a', '--idle-secs=5'], {
      CE_PEER_JOBS_ROOT: '/b',
      OTHER: '1',
    });
    expect(env).toEqual({ CE_PEER_JOBS_ROOT: '/a', CE_PEER_IDLE_SECS: '5', OTHER: '1' });
    expect(problems).toEqual([]);
  });

  test('unknown flags and flags without a value change nothing', () => {
    expect(settingsFrom(['--no', 'x', '--root'], { A: '1' }).env).toEqual({ A: '1' });
    expect(settingsFrom(['--no'], {}).problems[0]).toContain('unknown flag "--no"');
  });
});

describe('resource URIs', () => {
  const id = '20261130T121741Z-0a1b2c3d';

  test('name a file of a job, and are read back, also in small letters', () => {
    expect(jobUri(id, 'log')).toBe(`peer-job://${id}/log`);
    expect(parseJobUri(`peer-job://${id}/log`)).toEqual({ jobId: id, file: 'log' });
    expect(parseJobUri(`peer-job://${id.toLowerCase()}/outcome`)).toEqual({ jobId: id, file: 'outcome' });
  });

  test('are nothing else', () => {
    for (const uri of [
      '',
      'peer-job://x/log',
      `peer-job://${id}/meta`,
      `peer-job://${id}/log/..`,
      `peer-job://${id}`,
      `http://${id}/log`,
      `peer-job://../${id}/log`,
    ]) {
      expect(parseJobUri(uri), uri).toBeUndefined();
    }
    expect(jobUri('/tmp/some/dir', 'log')).toBeUndefined();
  });
});

describe('an answer as shown', () => {
  test('leaves out nulls, what follows from the rest, and a reference that is the id', () => {
    const row = {
      ref: 'x',
      job_id: 'x',
      label: null,
      log_path: '/x/out.log',
      supervision: { idle: null },
      exit_code: 0,
      reason: '',
    };
    const schema = shownSchema(schemaOf(z.extend(status.output, { next: z.string() }), 'output'));
    const answer = {
      jobs: [row, { ...row, ref: '/x' }],
      unknown: [{ ref: 'y', problem: 'p', more: 1 }],
      more: 1,
    };
    expect(shownValue(schema, answer)).toEqual({
      jobs: [
        { job_id: 'x', exit_code: 0, reason: '' },
        { ref: '/x', job_id: 'x', exit_code: 0, reason: '' },
      ],
      unknown: [{ ref: 'y', problem: 'p' }],
    });
  });
});

test('variables of a session are told from configuration and credentials', () => {
  const ofSession = [
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_MESSAGING_TOKEN',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_CHILD_NOTES_DIR',
    'CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS',
    'CODEX_SANDBOX',
    'CODEX_SANDBOX_NETWORK_DISABLED',
  ];
  const ofUser = [
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CONFIG_DIR',
    'ANTHROPIC_API_KEY',
    'CODEX_HOME',
    'CLAUDECODE_OF_MINE',
    'MY_CLAUDECODE',
    'OPENAI_API_KEY',
    'PATH',
  ];
  expect(ofSession.filter(isSessionVariable)).toEqual(ofSession);
  expect(ofUser.filter(isSessionVariable)).toEqual([]);
});
