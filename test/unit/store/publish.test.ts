import { execFileSync } from 'node:child_process';
import {
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import type { OutcomeRecord } from '../../../runner-core/job/records.ts';
import type { Verdict } from '../../../runner-core/job/state.ts';
import { isTerminal } from '../../../runner-core/job/state.ts';
import { fileOf, readOutcome, readReason, recordedState } from '../../../runner-core/store/job-dir.ts';
import { publish } from '../../../runner-core/store/publish.ts';
import { releaseSpace, reserveSpace } from '../../../runner-core/store/reserve.ts';
import { makeJob, test } from './directory.ts';
import { disk, systemError } from './interposed-fs.ts';

vi.mock('node:fs', async (original) => (await import('./interposed-fs.ts')).interpose(original));
afterEach(() => {
  disk.before = undefined;
});

const DONE: Verdict = { state: 'done', reason: 'worker exited 0' };
const TIMEOUT: Verdict = {
  state: 'timeout',
  reason: 'reaped on request before completion, and more than that',
};
const FAILED: Verdict = { state: 'failed', reason: 'worker exited 3' };

const outcomeOf = (verdict: Verdict): OutcomeRecord => ({ schema_version: 1, ...verdict, exit_code: null });
const publishAs = (jobDir: string, verdict: Verdict): boolean => publish(jobDir, verdict, outcomeOf(verdict));

/** A job with its supervisor's reserved space, as when a worker ends. */
function runningJob(dir: string, name = '20261130T121741Z-00000000'): string {
  const jobDir = makeJob(dir, { 'meta.json': {}, pid: {}, 'out.log': '' }, name);
  reserveSpace(jobDir);
  return jobDir;
}

/** The one record in the directory, after a check that its three parts tell the same. */
function recordIn(jobDir: string): Verdict {
  const state = recordedState(jobDir);
  const outcome = readOutcome(jobDir);
  if (!isTerminal(state)) throw new Error(`the state is ${state}`);
  expect(outcome).toMatchObject({ state, reason: readReason(jobDir) });
  return { state, reason: readReason(jobDir) };
}

const leftovers = (jobDir: string): string[] => readdirSync(jobDir).filter((name) => name.startsWith('.'));

/**
 * Runs `act` again and again; before the first, then the second, … step that follows its call of `arm`, `happen` is
 * called, until there is no such step. Gives the number of steps.
 */
function atEveryStep(act: (number: number, arm: () => void) => void, happen: () => void): number {
  for (let number = 0; ; number += 1) {
    let steps = 0;
    let happened = false;
    const arm = (): void => {
      disk.before = () => {
        if (steps++ !== number) return;
        happened = true;
        happen();
      };
    };
    try {
      act(number, arm);
    } finally {
      disk.before = undefined;
    }
    if (!happened) return number;
  }
}

describe('the terminal record', () => {
  test('is the word, its reason and its outcome, private, with nothing left beside them', ({ dir }) => {
    const job = runningJob(dir);
    for (const name of ['.lease-1', '.reap']) writeFileSync(join(job, name), '{}');
    expect(publishAs(job, DONE)).toBe(true);
    expect(readFileSync(fileOf(job, 'status'), 'utf8')).toBe('done\n');
    expect(readFileSync(fileOf(job, 'reason'), 'utf8')).toBe('worker exited 0\n');
    expect(recordIn(job)).toEqual(DONE);
    expect(readdirSync(job).sort()).toEqual([
      'meta.json',
      'out.log',
      'outcome.json',
      'pid',
      'reason',
      'status',
    ]);
    for (const file of ['status', 'reason', 'outcome'] as const)
      expect(lstatSync(fileOf(job, file)).mode & 0o777).toBe(0o600);
  });

  test('is never replaced by a later one', ({ dir }) => {
    const job = runningJob(dir);
    publishAs(job, DONE);
    expect(publishAs(job, TIMEOUT)).toBe(false);
    expect(recordIn(job)).toEqual(DONE);
    expect(leftovers(job)).toEqual([]);
  });

  test('that the reference wrote is not replaced, and is given no outcome', ({ dir }) => {
    const job = makeJob(dir, { pid: {}, reason: 'worker exited 0\n', status: 'done\n' });
    expect(publishAs(job, TIMEOUT)).toBe(false);
    expect(readReason(job)).toBe('worker exited 0');
    expect(readOutcome(job)).toBeUndefined();
  });

  test('comes to be without reserved space', ({ dir }) => {
    const job = makeJob(dir, { 'meta.json': {}, pid: {} });
    expect(publishAs(job, FAILED)).toBe(true);
    expect(recordIn(job)).toEqual(FAILED);
    expect(leftovers(job)).toEqual([]);
  });

  test('comes to be when only part of the reserved space is left', ({ dir }) => {
    for (const [index, kept] of ['reason', 'outcome', 'status'].entries()) {
      const job = makeJob(
        dir,
        { pid: {}, [`.reserve-${kept}`]: ' '.repeat(4000) },
        `20261130T121741Z-0000000${index}`,
      );
      expect(publishAs(job, FAILED)).toBe(true);
      expect(recordIn(job)).toEqual(FAILED);
    }
  });

  test('is announced by a touch of pid, for those who wait', ({ dir }) => {
    const job = runningJob(dir);
    const before = statSync(fileOf(job, 'pid'), { bigint: true }).mtimeNs;
    publishAs(job, DONE);
    expect(statSync(fileOf(job, 'pid'), { bigint: true }).mtimeNs).toBeGreaterThan(before);
  });

  test('has a reason of one line, cut to what readers take, also in the outcome', ({ dir }) => {
    const job = runningJob(dir);
    publishAs(job, {
      state: 'failed',
      reason: `could not launch worker:\r\nspawn /${'é'.repeat(3000)} ENOENT`,
    });
    const reason = readReason(job);
    expect(reason).toMatch(/^could not launch worker: spawn \/é+/);
    expect(Buffer.byteLength(reason)).toBeGreaterThan(900);
    expect(reason).not.toContain('\ufffd');
    expect(recordIn(job)).toEqual({ state: 'failed', reason });
    expect(lstatSync(fileOf(job, 'reason')).size).toBeLessThanOrEqual(1024);
  });

  test.for(['', 'do', 'garbage', 'x'.repeat(400)])(
    'replaces a status that is no word of ours: %j',
    (text, { dir }) => {
      const job = runningJob(dir);
      writeFileSync(fileOf(job, 'status'), text);
      expect(publishAs(job, TIMEOUT)).toBe(true);
      expect(recordIn(job)).toEqual(TIMEOUT);
    },
  );

  const plants: readonly (readonly [string, (path: string, dir: string) => unknown])[] = [
    [
      'a link to a file',
      (path, dir) => {
        writeFileSync(join(dir, 'precious'), 'done\n');
        symlinkSync(join(dir, 'precious'), path);
      },
    ],
    ['a link to nothing', (path, dir) => symlinkSync(join(dir, 'nothing'), path)],
    ['a FIFO', (path) => execFileSync('mkfifo', [path])],
    ['an empty directory', (path) => mkdirSync(path)],
    [
      'a directory with something in it',
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, 'x'), '');
      },
    ],
  ];
  describe.each(['status', 'reason', 'outcome'] as const)('replaces what was planted as its %s:', (file) => {
    test.for(plants)('%s', ([, plant], { dir }) => {
      const job = runningJob(dir);
      plant(fileOf(job, file), dir);
      expect(publishAs(job, TIMEOUT)).toBe(true);
      expect(recordIn(job)).toEqual(TIMEOUT);
      if (readdirSync(dir).includes('precious'))
        expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('done\n');
      expect(readdirSync(dir)).not.toContain('nothing');
    });
  });

  test.for(plants)(
    'does not write into what was planted in place of the reserved space: %s',
    ([, plant], { dir }) => {
      const job = makeJob(dir, { pid: {} });
      for (const part of ['status', 'reason', 'outcome']) {
        if (!readdirSync(dir).includes('precious')) plant(join(job, `.reserve-${part}`), dir);
      }
      expect(publishAs(job, TIMEOUT)).toBe(true);
      expect(recordIn(job)).toEqual(TIMEOUT);
      if (readdirSync(dir).includes('precious'))
        expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('done\n');
      expect(readdirSync(dir)).not.toContain('nothing');
    },
  );

  test('follows the outcome of a supervisor that died before it wrote the word', ({ dir }) => {
    const job = runningJob(dir);
    writeFileSync(fileOf(job, 'outcome'), JSON.stringify(outcomeOf(DONE)));
    publishAs(job, TIMEOUT);
    expect(recordIn(job)).toEqual(DONE);
  });

  test('replaces a torn outcome', ({ dir }) => {
    const job = runningJob(dir);
    writeFileSync(fileOf(job, 'outcome'), '{"state":"do');
    publishAs(job, TIMEOUT);
    expect(recordIn(job)).toEqual(TIMEOUT);
  });
});

describe('two who publish at once', () => {
  test('leave one record in which all parts agree, whichever step of the one the other comes between', ({
    dir,
  }) => {
    let job = '';
    let other: boolean | undefined;
    const steps = atEveryStep(
      (number, arm) => {
        job = runningJob(dir, `20261130T121741Z-${String(number).padStart(8, '0')}`);
        other = undefined;
        arm();
        const own = publishAs(job, DONE);
        disk.before = undefined;
        if (other !== undefined) expect(own, `before step ${number}`).toBe(!other);
        expect([DONE, TIMEOUT]).toContainEqual(recordIn(job));
        expect(leftovers(job), `before step ${number}`).toEqual([]);
      },
      () => {
        other = publishAs(job, TIMEOUT);
      },
    );
    expect(steps).toBeGreaterThan(20);
  });

  test('never change a word that a reader has seen', ({ dir }) => {
    const seen = new Set<string>();
    const job = runningJob(dir);
    let steps = 0;
    disk.before = () => {
      if (steps++ === 25) publishAs(job, TIMEOUT);
      const state = recordedState(job);
      if (state !== 'running') seen.add(state);
    };
    publishAs(job, DONE);
    disk.before = undefined;
    seen.add(recordedState(job));
    expect(seen.size).toBe(1);
  });
});

describe('a disk that fails', () => {
  test.for(['EIO', 'ENOENT'])(
    'once, at any step, with %s: the next try leaves one whole record',
    (code, { dir }) => {
      const steps = atEveryStep(
        (number, arm) => {
          const job = runningJob(dir, `20261130T121741Z-${String(number).padStart(8, '0')}`);
          arm();
          try {
            publishAs(job, DONE);
          } catch (error) {
            expect(error).toMatchObject({ code });
          }
          disk.before = undefined;
          const first = recordedState(job);
          publishAs(job, TIMEOUT);
          const record = recordIn(job);
          if (first !== 'running') expect(record.state, `step ${number}`).toBe(first);
        },
        () => {
          throw systemError(code);
        },
      );
      expect(steps).toBeGreaterThan(20);
    },
  );

  test('for good, as for one who is killed at any step: the next one leaves one whole record and no litter', ({
    dir,
  }) => {
    const steps = atEveryStep(
      (number, arm) => {
        const job = runningJob(dir, `20261130T121741Z-${String(number).padStart(8, '0')}`);
        arm();
        const inner = disk.before;
        let dead = false;
        disk.before = (step) => {
          if (dead) throw systemError('EIO');
          try {
            inner?.(step);
          } catch (error) {
            dead = true;
            throw error;
          }
        };
        try {
          publishAs(job, DONE);
        } catch {
          // It was killed.
        } finally {
          disk.before = undefined;
        }
        const seen = recordedState(job);
        publishAs(job, TIMEOUT);
        const record = recordIn(job);
        if (seen !== 'running') expect(record.state, `step ${number}`).toBe(seen);
        else expect(leftovers(job), `step ${number}`).toEqual([]);
      },
      () => {
        throw systemError('EIO');
      },
    );
    expect(steps).toBeGreaterThan(20);
  });

  /** No file may grow any more, and none that is new may hold anything. */
  function fullDisk(): void {
    disk.before = ({ name, args }) => {
      if (name !== 'writeSync') return;
      const [fd, data, offset, length, position] = args as [number, Buffer, number?, number?, number?];
      const end = (position ?? 0) + (length ?? data.length - (offset ?? 0));
      if (end > fstatSync(fd).size) throw systemError('ENOSPC');
    };
  }

  test('by being full since the start: the record is written into the space that was reserved', ({ dir }) => {
    const job = runningJob(dir);
    fullDisk();
    expect(publishAs(job, { ...FAILED, reason: 'x'.repeat(1000) })).toBe(true);
    disk.before = undefined;
    expect(recordIn(job).state).toBe('failed');
  });

  test('by being full, without reserved space: nothing is published, and with room again it is', ({
    dir,
  }) => {
    const job = makeJob(dir, { pid: {} });
    fullDisk();
    expect(() => publishAs(job, DONE)).toThrowError(/ENOSPC/);
    disk.before = undefined;
    expect(recordedState(job)).toBe('running');
    publishAs(job, FAILED);
    expect(isTerminal(recordedState(job))).toBe(true);
  });
});

describe('a file system without hard links', () => {
  test('holds a record all the same, and only one', ({ dir }) => {
    const job = runningJob(dir);
    disk.before = ({ name }) => {
      if (name === 'linkSync') throw systemError('EPERM');
    };
    expect(publishAs(job, DONE)).toBe(true);
    expect(publishAs(job, TIMEOUT)).toBe(false);
    disk.before = undefined;
    expect(recordIn(job)).toEqual(DONE);
    expect(leftovers(job)).toEqual([]);
  });
});

describe('reserved space', () => {
  test('is real bytes, private, and is given back whole', ({ dir }) => {
    const job = makeJob(dir);
    reserveSpace(job);
    const sizes = leftovers(job).map((name) => lstatSync(join(job, name)).size);
    expect(sizes).toHaveLength(4);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(64);
    releaseSpace(job);
    releaseSpace(job);
    expect(readdirSync(job)).toEqual([]);
  });

  test('that is not there is told by the error of the system', ({ dir }) => {
    const job = makeJob(dir);
    disk.before = ({ name }) => {
      if (name === 'writeSync') throw systemError('ENOSPC');
    };
    expect(() => reserveSpace(job)).toThrowError(/ENOSPC/);
  });

  test('is not written into where it has another name as well', ({ dir }) => {
    const job = runningJob(dir);
    linkSync(join(job, '.reserve-status'), join(dir, 'other'));
    publishAs(job, DONE);
    expect(recordIn(job)).toEqual(DONE);
  });
});
