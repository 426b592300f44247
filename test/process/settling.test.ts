import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { supervisorsOf } from '../faults/invariants.ts';
import { eventually } from '../support/eventually.ts';
import {
  ask,
  gone,
  type Job,
  kill,
  killSupervisor,
  pidsOf,
  ready,
  recordOf,
  settled,
  start,
} from '../support/jobs.ts';
import { isAlive } from '../support/proc.ts';
import { fixture, sh } from '../support/programs.ts';
import {
  listDirectory,
  readLog,
  readOutcome,
  readPids,
  readReason,
  readStatus,
} from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

/** Ways to ask about a job: each must put right what it meets. */
const QUESTIONS: readonly (readonly string[])[] = [
  ['status'],
  ['wait', '--max-secs', '0'],
  ['wait', '--max-secs', '20', '--deadline-secs', '1000'],
  ['list'],
  ['reap'],
  ['result'],
  ['log'],
];

const question = (temp: TempBase, words: readonly string[], job: Job): Promise<string> =>
  ask(temp, ...words, ...(words[0] === 'list' ? [] : [job.id]));

/** Kills the supervisor, then the worker, so that nobody is left to tell. */
async function killBoth(job: Job): Promise<void> {
  await kill(await killSupervisor(job));
}

describe('supervisor and worker were killed', () => {
  test.for(QUESTIONS)('%j records that it died without a result', async (words, { temp }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { flags: ['--result-path', 'out'] });
    await ready(job);
    await killBoth(job);
    expect(readStatus(job.dir)).toBeUndefined();
    await question(temp, words, job);
    expect(readStatus(job.dir)).toBe('died-without-result');
    expect(readOutcome(job.dir)).toMatchObject({ state: 'died-without-result', classified_by: 'caller' });
    expect(listDirectory(job.dir).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test.for(QUESTIONS)('%j finds the result that is there: done', async (words, { temp }) => {
    const job = await start(temp, sh('echo x > out; echo "ready $$"; exec sleep 60'), {
      flags: ['--result-path', 'out'],
    });
    await ready(job);
    await killBoth(job);
    await question(temp, words, job);
    expect(readStatus(job.dir)).toBe('done');
    expect(await ask(temp, 'result', job.id)).toBe('0 "x\\n"');
  });

  test('a stale result is no evidence', async ({ temp }) => {
    temp.file('out', 'of an earlier job');
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { flags: ['--result-path', 'out'] });
    await ready(job);
    await killBoth(job);
    expect(await ask(temp, 'status', job.id)).toBe('0 "died-without-result\\n"');
  });

  test('a result over its cap, or a log over its own, is failed', async ({ temp }) => {
    const over = await start(temp, sh('head -c 2000 /dev/zero > out; echo "ready $$"; exec sleep 60'), {
      flags: ['--result-path', 'out', '--result-max-bytes', '1000'],
    });
    await ready(over);
    await killBoth(over);
    expect(await ask(temp, 'status', over.id)).toBe('0 "failed\\n"');
    expect(readReason(over.dir)).toMatch(/^result exceeded byte cap/);
  });

  test('what is left of the tree is ended before the record is there', async ({ temp }) => {
    const job = await start(temp, sh('sleep 60 & setsid sleep 60 & echo "ready $$ $!"; wait'));
    const pids = await ready(job);
    await killBoth(job);
    expect(pids.slice(1).map(isAlive)).toEqual([true]);
    expect(await ask(temp, 'status', job.id)).toBe('0 "died-without-result\\n"');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(temp.ledger.living()).toEqual([]);
  });

  test('the classification of a supervisor that died before its last step is kept', async ({ temp }) => {
    const job = await start(temp, sh('echo x > out; exit 3'), { flags: ['--result-path', 'out'] });
    expect(await settled(job)).toBe('failed');
    await gone([pidsOf(job).supervisor_pid]);
    // As if it had been killed between outcome.json and status: the exit code is known, though a result lies there.
    rmSync(join(job.dir, 'status'));
    expect(await ask(temp, 'status', job.id)).toBe('0 "failed\\n"');
    expect(readReason(job.dir)).toBe('worker exited 3');
    expect(readOutcome(job.dir)).toMatchObject({ exit_code: 3, classified_by: 'supervisor' });
  });
});

describe('only the supervisor was killed', () => {
  test.for([['status'], ['wait', '--max-secs', '0'], ['list'], ['log']])(
    '%j gives the worker a new one',
    async (words, { temp }) => {
      const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
      await ready(job);
      const before = pidsOf(job);
      await killSupervisor(job);
      await question(temp, words, job);
      const after = pidsOf(job);
      temp.ledger.registerJob(job.dir);
      expect(after.supervisor_pid).not.toBe(before.supervisor_pid);
      expect(after.worker_pid).toBe(before.worker_pid);
      expect([after.supervisor_pid, after.worker_pid].map(isAlive)).toEqual([true, true]);
      expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
      expect(pidsOf(job).supervisor_pid).toBe(after.supervisor_pid);
      expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
      expect(readStatus(job.dir)).toBe('timeout');
      await gone([after.supervisor_pid, after.worker_pid]);
    },
  );

  async function adopted(temp: TempBase, script: string, flags: readonly string[] = []): Promise<Job> {
    const job = await start(temp, sh(script), { flags: [...flags, '--result-path', 'out'] });
    await ready(job);
    await killSupervisor(job);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    temp.ledger.registerJob(job.dir);
    return job;
  }

  test('the log goes on growing, and the result that comes later makes it done', async ({ temp }) => {
    const job = await adopted(
      temp,
      'echo "ready $$"; while [ ! -e go ]; do echo tick; sleep 0.05; done; echo x > out',
    );
    const size = readLog(job.dir).length;
    await eventually(() => readLog(job.dir).length > size);
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
    expect(readOutcome(job.dir)).toMatchObject({ classified_by: 'adopter', result_bytes: 2 });
    await eventually(() => listDirectory(job.dir).every((name) => !name.startsWith('.')));
  });

  test('the end of an adopted worker without a result is recorded without a question', async ({ temp }) => {
    const job = await adopted(temp, 'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done');
    temp.file('go', '');
    expect(await settled(job)).toBe('died-without-result');
  });

  test('the hard window counts from the real start', async ({ temp }) => {
    const job = await start(temp, sh('while :; do echo x; sleep 0.1; done'), {
      flags: ['--hard-secs', '15'],
    });
    const started = performance.now();
    await eventually(() => performance.now() - started > 8000);
    await killSupervisor(job);
    await ask(temp, 'status', job.id);
    expect(await settled(job)).toBe('timeout');
    expect(readReason(job.dir)).toBe('hard cap 15s exceeded');
    // Counted from the adoption it would have been 23 s.
    const wall = Number(readOutcome(job.dir)?.wall_secs);
    expect(wall).toBeGreaterThan(14.9);
    expect(wall).toBeLessThan(22.9);
    await gone([pidsOf(job).worker_pid]);
  });

  test('a hard window that passed while nobody watched ends the worker at the next question', async ({
    temp,
  }) => {
    const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), { flags: ['--hard-secs', '6'] });
    await ready(job);
    const started = performance.now();
    await killSupervisor(job);
    await eventually(() => performance.now() - started > 6100);
    await ask(temp, 'status', job.id);
    expect(await settled(job)).toBe('timeout');
    await gone([pidsOf(job).worker_pid]);
  });

  test('the idle window is in force again, counted from the last output', async ({ temp }) => {
    const job = await adopted(temp, 'echo "ready $$"; exec sleep 60', ['--idle-secs', '8']);
    expect(await settled(job)).toBe('timeout');
    expect(readReason(job.dir)).toBe('no output for 8s (idle window)');
    expect(readOutcome(job.dir)).toMatchObject({ classified_by: 'adopter' });
    await gone([pidsOf(job).worker_pid]);
  });

  test('the log cap is in force again', async ({ temp }) => {
    const job = await adopted(temp, 'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; exec yes', [
      '--log-max-bytes',
      '100000',
    ]);
    temp.file('go', '');
    expect(await settled(job)).toBe('failed');
    expect(readReason(job.dir)).toMatch(/^out\.log exceeded byte cap/);
    expect(readLog(job.dir).length).toBe(100_000);
  });

  test('the tree of an adopted worker is killed whole: group, sessions, orphans, the deaf', async ({
    temp,
  }) => {
    const job = await adopted(
      temp,
      'trap \'\' TERM; sleep 60 & a=$!; setsid sleep 60 & (setsid sleep 60 &) ; echo "ready $$ $a $!"; wait',
    );
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    await eventually(() => temp.ledger.living().length === 0);
  });

  test('the adopter can be killed in turn, and the next one too', async ({ temp }) => {
    const job = await adopted(temp, 'echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out');
    const seen = new Set([pidsOf(job).supervisor_pid]);
    for (let round = 0; round < 3; round += 1) {
      await killSupervisor(job);
      expect(await ask(temp, 'wait', '--max-secs', '0', job.id)).toBe('0 "running\\n"');
      temp.ledger.registerJob(job.dir);
      seen.add(pidsOf(job).supervisor_pid);
    }
    expect(seen.size).toBe(4);
    temp.file('go', '');
    expect(await settled(job)).toBe('done');
  });

  test('a waiter gets the end of a worker whose supervisor dies while it waits', async ({ temp }) => {
    const job = await start(
      temp,
      sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; echo x > out'),
      {
        flags: ['--result-path', 'out'],
      },
    );
    await ready(job);
    const waiting = ask(temp, 'wait', '--max-secs', '30', job.id);
    const before = await killSupervisor(job).then(() => pidsOf(job).supervisor_pid);
    await eventually(() => readPids(job.dir)?.supervisor_pid !== before);
    temp.file('go', '');
    expect(await waiting).toBe('0 "done\\n"');
  });
});

describe('races', () => {
  const ROUNDS = Number(process.env.PEER_JOBS_RACES ?? 4);
  const CALLERS = 8;
  const asking = (temp: TempBase, job: Job) =>
    Promise.all(
      Array.from({ length: CALLERS }, (_, turn) =>
        question(temp, [['status'], ['wait', '--max-secs', '0'], ['list']][turn % 3] ?? [], job),
      ),
    );

  test(`eight callers settle a job: one record, which stays (${ROUNDS} times)`, {
    timeout: 300_000 + ROUNDS * 30_000,
  }, async ({ temp }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const job = await start(temp, sh('echo "ready $$"; exec sleep 60'), {
        flags: ['--result-path', 'out'],
      });
      await ready(job);
      await killBoth(job);
      const answers = await asking(temp, job);
      for (const answer of answers) expect(answer).toContain('died-without-result');
      const record = recordOf(job);
      expect(record.status).toBe('died-without-result\n');
      expect(JSON.parse(record['outcome.json'] ?? '').state).toBe('died-without-result');
      await ask(temp, 'reap', job.id);
      expect(recordOf(job)).toEqual(record);
      expect(listDirectory(job.dir).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  });

  test(`eight callers adopt a worker: one supervisor (${ROUNDS} times)`, {
    timeout: 300_000 + ROUNDS * 30_000,
  }, async ({ temp }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const job = await start(temp, sh('echo "ready $$"; exec sleep 60'));
      await ready(job);
      await killSupervisor(job);
      const answers = await asking(temp, job);
      for (const answer of answers) expect(answer).toContain('running');
      expect(supervisorsOf(job)).toEqual([pidsOf(job).supervisor_pid]);
      temp.ledger.registerJob(job.dir);
      await ask(temp, 'reap', job.id);
      expect(readStatus(job.dir)).toBe('timeout');
      await gone([pidsOf(job).worker_pid]);
    }
  });

  test('eight callers reap at once a job without a supervisor: one record, all content', async ({ temp }) => {
    const job = await start(temp, fixture('ignores-term.sh'));
    const pids = await ready(job);
    await killSupervisor(job);
    const codes = await Promise.all(Array.from({ length: CALLERS }, () => ask(temp, 'reap', job.id)));
    expect(new Set(codes)).toEqual(new Set(['0 ""']));
    const record = recordOf(job);
    expect(JSON.parse(record['outcome.json'] ?? '').state).toBe(record.status?.trim());
    expect(JSON.parse(record['outcome.json'] ?? '').reason).toBe(record.reason?.trim());
    await gone(pids);
  });
});
