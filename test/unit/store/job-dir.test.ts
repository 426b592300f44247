import { execFileSync } from 'node:child_process';
import { chownSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import { JOB_STATES, TERMINAL_STATES } from '../../../runner-core/job/state.ts';
import { MAX_TIMER_SECS } from '../../../runner-core/limits.ts';
import {
  fileOf,
  isOwnJobDir,
  jobIdOf,
  readMeta,
  readOutcome,
  readPid,
  readReason,
  recordedState,
  requireMeta,
  startedAtMs,
} from '../../../runner-core/store/job-dir.ts';
import { processesOf } from '../../../runner-core/store/processes.ts';
import { FOREIGN_UID, isSuperuser, JOB_ID, makeJob, test } from './directory.ts';

const plants: readonly (readonly [string, (path: string) => unknown])[] = [
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a directory', (path) => mkdirSync(path)],
  ['a link', (path) => symlinkSync('/etc/hostname', path)],
  ['a link to nothing', (path) => symlinkSync('/nonexistent', path)],
];

describe('the recorded state', () => {
  test.for(TERMINAL_STATES)('is the word in status: %s', (word, { dir }) => {
    expect(recordedState(makeJob(dir, { 'meta.json': {}, pid: {}, status: `${word}\n` }))).toBe(word);
  });

  test('is running from when pid lies there, and never-started before', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': {} });
    expect(recordedState(job)).toBe('never-started');
    writeFileSync(fileOf(job, 'pid'), '');
    expect(recordedState(job)).toBe('running');
  });

  test.for(['', 'don', 'DONE', 'done failed', 'running', 'never-started', '\0'])(
    'is unreadable for a status that is torn or says %j',
    (text, { dir }) => {
      expect(recordedState(makeJob(dir, { pid: {}, status: text }))).toBe('unreadable');
    },
  );

  test('is one of the known ones, for any bytes in status', ({ dir }) => {
    const job = makeJob(dir, { pid: {} });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
        writeFileSync(fileOf(job, 'status'), data);
        const word = Buffer.from(data).toString('utf8').trim();
        const known = TERMINAL_STATES.find((state) => state === word);
        expect(recordedState(job)).toBe(known ?? 'unreadable');
        expect(JOB_STATES).toContain(recordedState(job));
      }),
      { numRuns: 50 },
    );
  });

  test.for(plants)('is unreadable when status is %s', ([, plant], { dir }) => {
    const job = makeJob(dir, { pid: {} });
    plant(fileOf(job, 'status'));
    expect(recordedState(job)).toBe('unreadable');
  });

  test('is unreadable when status is longer than any word', ({ dir }) => {
    expect(recordedState(makeJob(dir, { status: `done${' '.repeat(300)}` }))).toBe('unreadable');
  });

  test('is unreadable for a link in place of the directory, a file, or nothing at all', ({ dir }) => {
    const job = makeJob(dir, { status: 'done\n' });
    symlinkSync(job, join(dir, 'link'));
    writeFileSync(join(dir, 'file'), '');
    for (const path of ['link', 'file', 'absent'].map((name) => join(dir, name))) {
      expect(isOwnJobDir(path)).toBe(false);
      expect(recordedState(path)).toBe('unreadable');
    }
    expect(isOwnJobDir(job)).toBe(true);
  });

  test.skipIf(!isSuperuser)('is unreadable for the directory or the status of another user', ({ dir }) => {
    const job = makeJob(dir, { status: 'done\n' });
    chownSync(fileOf(job, 'status'), FOREIGN_UID, FOREIGN_UID);
    expect(recordedState(job)).toBe('unreadable');
    const other = makeJob(dir, { status: 'done\n' }, '20261130T121741Z-ffffffff');
    chownSync(other, FOREIGN_UID, FOREIGN_UID);
    expect(recordedState(other)).toBe('unreadable');
  });
});

describe('a record that is', () => {
  const spoilt: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['torn', '{"supervisor_pid": 12, "work'],
    ['no object', '[]'],
    ['null', 'null'],
    ['no JSON', 'supervisor 12'],
    ['too deep', '['.repeat(60_000)],
    ['too long', JSON.stringify({ supervisor_pid: 12, x: 'x'.repeat(5 * 1024 * 1024) })],
  ];

  test.for(spoilt)('%s is none, and no failure', ([, text], { dir }) => {
    const job = makeJob(dir, { 'meta.json': text, pid: text, 'outcome.json': text });
    expect([readMeta(job), readPid(job), readOutcome(job)]).toEqual([undefined, undefined, undefined]);
    expect(processesOf(job)).toMatchObject({ jobId: JOB_ID, supervisor: undefined, worker: undefined });
    expect(() => requireMeta(job)).toThrowError(RunnerError);
  });

  test.for(plants)('%s is none, and no failure', ([, plant], { dir }) => {
    const job = makeJob(dir);
    for (const file of ['meta', 'pid', 'outcome', 'reason'] as const) plant(fileOf(job, file));
    expect([readMeta(job), readPid(job), readOutcome(job)]).toEqual([undefined, undefined, undefined]);
    expect(readReason(job)).toBe('');
    expect(() => requireMeta(job)).toThrowError(RunnerError);
  });

  test('absent is none; where the caller cannot go on without it that is a refusal', ({ dir }) => {
    const job = makeJob(dir);
    expect([readMeta(job), readPid(job), readOutcome(job)]).toEqual([undefined, undefined, undefined]);
    expect(() => requireMeta(job)).toThrowError(expect.objectContaining({ kind: 'refused' }));
  });
});

test('an argv of 100 KB is read back', ({ dir }) => {
  const argv = ['/bin/echo', 'é'.repeat(100_000)];
  expect(requireMeta(makeJob(dir, { 'meta.json': { worker_argv: argv } })).worker_argv).toEqual(argv);
});

describe('the moment of the start', () => {
  test('is the recorded one, else the time stamp of the record, else unknown', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': { started_at: '2026-11-30T12:17:41Z' } });
    expect(startedAtMs(job, readMeta(job))).toBe(Date.UTC(2026, 10, 30, 12, 17, 41));
    for (const started_at of [undefined, null, '', 'yesterday']) {
      writeFileSync(fileOf(job, 'meta'), JSON.stringify({ started_at }));
      expect(startedAtMs(job, readMeta(job))).toBe(lstatSync(fileOf(job, 'meta')).mtimeMs);
    }
    rmSync(fileOf(job, 'meta'));
    expect(startedAtMs(job, undefined)).toBeUndefined();
  });
});

describe('a directory as the reference leaves it', () => {
  const meta = `{
  "job_id": "${JOB_ID}",
  "skill": "ce-work",
  "run_id": "r1",
  "label": null,
  "input_digest": null,
  "started_at": "2026-11-30T12:17:41Z",
  "worker_argv": [
    "/usr/bin/sleep",
    "30"
  ],
  "result_path": "/srv/result.json",
  "sweep_enabled": true,
  "supervision": {
    "idle": null,
    "hard": 1230.0,
    "log_max": 10485760,
    "result_max": 5242880,
    "poll": 2.0,
    "grace": 5.0
  }
}
`;
  const pid = '{"supervisor_pid": 4711, "worker_pid": 4712, "supervisor_pgid": 4710}\n';

  test('loads: fewer fields, floats, a null idle window', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': meta, pid, 'out.log': '' });
    expect(recordedState(job)).toBe('running');
    expect(readMeta(job)).toMatchObject({
      job_id: JOB_ID,
      result_path: '/srv/result.json',
      supervision: { idle: null, hard: 1230, log_max: 10_485_760, result_max: 5_242_880, poll: 2, grace: 5 },
    });
    expect(requireMeta(job)).toEqual(readMeta(job));
  });

  test('tells its processes without identities, and between which moments they were started', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': meta, pid, 'out.log': '' });
    expect(processesOf(job)).toEqual({
      jobId: JOB_ID,
      jobDir: job,
      logPath: fileOf(job, 'log'),
      supervisor: { pid: 4711, identity: undefined },
      worker: { pid: 4712, identity: undefined },
      circumstances: {
        startedAfterMs: Date.UTC(2026, 10, 30, 12, 17, 41),
        startedBeforeMs: lstatSync(fileOf(job, 'pid')).mtimeMs,
        jobId: JOB_ID,
        runId: 'r1',
      },
      jobName: undefined,
    });
  });

  test('is settled without an outcome.json', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': meta, pid, reason: 'worker exited 0\n', status: 'done\n' });
    expect(recordedState(job)).toBe('done');
    expect(readReason(job)).toBe('worker exited 0');
    expect(readOutcome(job)).toBeUndefined();
  });

  test('loads with windows that were set to inf, which Python writes as no JSON knows it', ({ dir }) => {
    const endless = meta
      .replace('"idle": null', '"idle": Infinity')
      .replace('"hard": 1230.0', '"hard": Infinity')
      .replace('"label": null', '"label": "not Infinity, a \\"NaN\\""');
    const record = readMeta(makeJob(dir, { 'meta.json': endless }));
    expect(record?.result_path).toBe('/srv/result.json');
    expect(record?.label).toBe('not Infinity, a "NaN"');
    expect(record?.supervision).toMatchObject({ idle: MAX_TIMER_SECS, hard: MAX_TIMER_SECS });
  });

  test('of Windows loads with its identities and its job name', ({ dir }) => {
    const record = {
      supervisor_pid: 8,
      worker_pid: 12,
      supervisor_identity: '133771234567890123|C:\\Python\\python.exe',
      worker_identity: '133771234567890999|C:\\tool.exe',
      job_name: 'Local\\ce-peer-job-x',
    };
    expect(readPid(makeJob(dir, { pid: record }))).toEqual(record);
  });
});

test('a job is called by the name of its directory', () => {
  expect(jobIdOf(`/base/s/r/jobs/${JOB_ID}`)).toBe(JOB_ID);
});

describe('the reason', () => {
  test('is one line without its end; absent or too long it is nothing', ({ dir }) => {
    const job = makeJob(dir, { reason: 'worker exited 3\n' });
    expect(readReason(job)).toBe('worker exited 3');
    writeFileSync(fileOf(job, 'reason'), 'x'.repeat(2000));
    expect(readReason(job)).toBe('');
    rmSync(fileOf(job, 'reason'));
    expect(readReason(job)).toBe('');
  });
});
