import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentFor } from '../../../runner-core/engine/run-command.ts';
import {
  batchScript,
  complaint,
  isQueue,
  isRefusal,
  isUnknownJob,
  parseAccounting,
  parseConfig,
  parseNodes,
  parseQueue,
  sbatchArgs,
  squeueArgs,
  submittedId,
} from '../../../runner-core/engine/slurm-commands.ts';

const JOB = '20261130T161030Z-0a1b2c3d';

describe('a submission', () => {
  const args = (options = {}, timeLimitSecs = 61) =>
    sbatchArgs({ jobId: JOB, jobDir: `/shared/jobs/${JOB}`, timeLimitSecs, options });

  test('names the job and its directory, and asks for no more than was asked', () => {
    expect(args()).toEqual([
      '--parsable',
      '--no-requeue',
      `--job-name=${JOB}`,
      `--comment=peer-jobs /shared/jobs/${JOB}`,
      '--export=ALL',
      `--chdir=/shared/jobs/${JOB}`,
      `--output=/shared/jobs/${JOB}/engine.log`,
      '--open-mode=append',
      '--nodes=1',
      '--ntasks=1',
      '--time=2',
    ]);
  });

  test('has each option in one word with its value', () => {
    const asked = { partition: 'gpu,long', memory_mb: 512, cpus: 3, gpus: 1, constraint: 'a&b' };
    expect(args(asked).slice(11)).toEqual([
      '--partition=gpu,long',
      '--mem=512M',
      '--cpus-per-task=3',
      '--gpus=1',
      '--constraint=a&b',
    ]);
  });

  test('names its output so that sbatch fills nothing in', () => {
    const [output] = sbatchArgs({ jobId: JOB, jobDir: '/a %j', timeLimitSecs: 1, options: {} }).filter(
      (arg) => arg.startsWith('--output='),
    );
    expect(output).toBe('--output=/a %%j/engine.log');
  });

  test('asks for whole minutes, never fewer than were meant', () => {
    expect(args({}, 60)).toContain('--time=1');
    expect(args({}, 60.5)).toContain('--time=2');
    expect(args({}, 1)).toContain('--time=1');
  });
});

describe('the environment of the programs', () => {
  test('holds where they are and whose, and nothing else of the caller', () => {
    const env = {
      PATH: '/bin',
      SLURM_CONF: '/c',
      SBATCH_ACCOUNT: 'x',
      SBATCH_ARRAY_INX: '1-9',
      SQUEUE_FORMAT: '%i',
      SECRET: 's',
      CE_PEER_JOB_ID: JOB,
      LC_ALL: 'de_DE',
    };
    expect(environmentFor(env)).toEqual({
      PATH: '/bin',
      SLURM_CONF: '/c',
      SBATCH_ACCOUNT: 'x',
      LC_ALL: 'C',
    });
  });
});

describe('the batch script', () => {
  test.runIf(process.platform !== 'win32')('hands every word on as it is, whatever is in it', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const program = [
          process.execPath,
          '-e',
          'console.log(JSON.stringify([process.env.MARK, process.argv.slice(1)]))',
        ];
        const script = batchScript([...program, '--', ...words], 'MARK');
        const { stdout } = spawnSync('/bin/sh', { input: script, encoding: 'utf8' });
        expect(JSON.parse(stdout)).toEqual(['1', words]);
      }),
      { numRuns: 15 },
    );
  });
});

describe('the answer of sbatch', () => {
  test('is the number of the job, with or without its cluster, after what a plugin had to say', () => {
    expect(submittedId('42\n')).toBe('42');
    expect(submittedId('42;core\n')).toBe('42');
    expect(submittedId('welcome\n42\n')).toBe('42');
  });

  test('is none where it says anything else', () => {
    for (const text of ['', 'Submitted batch job 42', '42_1', '-1', '42 43'])
      expect(submittedId(text), text).toBeUndefined();
  });

  test.each([
    'sbatch: error: Batch job submission failed: Invalid partition name specified',
    'sbatch: error: Batch job submission failed: Requested node configuration is not available',
    'sbatch: error: Invalid generic resource (gres) specification',
    'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)',
  ])('is a refusal: %s', (text) => {
    expect(isRefusal(`${text}\n`)).toBe(true);
  });

  test.each([
    'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation',
    'sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received',
    'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.',
    'sbatch: error: Batch job submission failed: Unexpected message received',
    '',
  ])('leaves open whether the job got through: %s', (text) => {
    expect(isRefusal(text)).toBe(false);
  });

  test('is told by its last complaint', () => {
    expect(complaint('sbatch: error: first\nsbatch: error: the last one\n\n')).toBe('the last one');
    expect(complaint('')).toBe('');
  });
});

describe('squeue', () => {
  test('is asked for one job by its number, or for the jobs of a user', () => {
    expect(squeueArgs({ id: '7' })).toContain('--jobs=7');
    expect(squeueArgs({ uid: 1000, name: JOB }).slice(-2)).toEqual(['--user=1000', `--name=${JOB}`]);
    expect(squeueArgs({ uid: 0 })).not.toContain('--name');
  });

  test('tells number, state, name and reason of our jobs, and of no others', () => {
    const rows = parseQueue(
      [
        `7|PENDING|${JOB}|Resources|peer-jobs /shared/jobs/${JOB}`,
        `8|RUNNING|${JOB}|None|peer-jobs /a|b`,
        `9|RUNNING|${JOB}|None|somebody else`,
        '10|RUNNING|a|b|c|d',
        'CLUSTER: core',
        '',
      ].join('\n'),
    );
    expect(rows).toEqual([
      { id: '7', state: 'PENDING', name: JOB, reason: 'Resources' },
      { id: '8', state: 'RUNNING', name: JOB, reason: '' },
    ]);
  });

  test('is doubted where a line is none of it', () => {
    expect(isQueue(`CLUSTER: core\n7|PENDING|${JOB}|Resources|x\n10|RUNNING|a|b|c|d\n`)).toBe(true);
    expect(isQueue('')).toBe(true);
    for (const text of ['garbage', `7|PENDING|${JOB}|Res`, '7|PENDING|a|b|c\nslurm: plugin: hello\n'])
      expect(isQueue(text)).toBe(false);
  });

  test('reads any text', () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseQueue(text))));
  });

  test('says which job there is not', () => {
    expect(isUnknownJob('slurm_load_jobs error: Invalid job id specified\n')).toBe(true);
    expect(
      isUnknownJob('slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n'),
    ).toBe(false);
  });
});

test('the configuration is read off scontrol show config', () => {
  const text =
    'ClusterName             = core\nKillWait                = 30 sec\nProctrackType           = proctrack/cgroup\nSLURM_VERSION           = 22.05.8\n';
  expect(parseConfig(text)).toEqual({
    cluster: 'core',
    killWaitSecs: 30,
    proctrack: 'proctrack/cgroup',
    version: '22.05.8',
  });
  expect(parseConfig('')).toEqual({ cluster: null, killWaitSecs: null, proctrack: null, version: null });
});

test('accounting is believed for a job of that name alone', () => {
  expect(parseAccounting(`${JOB}|CANCELLED by 1000\n`, JOB)).toBe('CANCELLED by 1000');
  expect(parseAccounting('other|COMPLETED\n', JOB)).toBeUndefined();
  expect(parseAccounting('', JOB)).toBeUndefined();
});

test('nodes are counted by their state', () => {
  expect(parseNodes('idle|2\ndown*|1\n\n')).toEqual([
    { state: 'idle', count: 2 },
    { state: 'down*', count: 1 },
  ]);
});
