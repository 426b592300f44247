import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { currentLease, type Lease, releaseLease, takeLease } from '../../../runner-core/store/lease.ts';
import { makeJob, test } from './directory.ts';

const holder = (pid: number) => ({ pid, identity: `boot/ns/${pid}` });
const NOBODY: Lease = { number: 0, holder: undefined };

describe('the lease of a job', () => {
  test('is number 0, without a file, as long as nobody took over from its supervisor', ({ dir }) => {
    expect(currentLease(makeJob(dir, { pid: {} }))).toEqual(NOBODY);
    expect(currentLease(join(dir, 'gone'))).toEqual(NOBODY);
  });

  test('goes to the first who takes it after the number he saw, and to nobody else', ({ dir }) => {
    const job = makeJob(dir);
    const seen = currentLease(job);
    expect(takeLease(job, seen, holder(1))).toEqual({ number: 1, holder: holder(1) });
    expect(takeLease(job, seen, holder(2))).toBeUndefined();
    expect(currentLease(job)).toEqual({ number: 1, holder: holder(1) });
    expect(readdirSync(job)).toEqual(['.lease-1']);
  });

  test('can be taken over from its holder, again and again', ({ dir }) => {
    const job = makeJob(dir);
    for (let number = 1; number <= 12; number += 1) {
      expect(takeLease(job, currentLease(job), holder(number))?.number).toBe(number);
    }
    expect(currentLease(job)).toEqual({ number: 12, holder: holder(12) });
  });

  test('that was given back is free for the next', ({ dir }) => {
    const job = makeJob(dir);
    const lease = takeLease(job, NOBODY, holder(1));
    if (!lease) throw new Error('it was free');
    releaseLease(job, lease);
    expect(currentLease(job)).toEqual(NOBODY);
    expect(takeLease(job, NOBODY, holder(2))?.holder).toEqual(holder(2));
  });

  test('that was taken over is not given back by its former holder', ({ dir }) => {
    const job = makeJob(dir);
    const first = takeLease(job, NOBODY, holder(1));
    if (!first) throw new Error('it was free');
    takeLease(job, first, holder(2));
    releaseLease(job, first);
    expect(currentLease(job)).toEqual({ number: 2, holder: holder(2) });
    expect(takeLease(job, NOBODY, holder(3))).toBeUndefined();
  });

  test('below one that is taken is never to be had, also if its file is gone', ({ dir }) => {
    const job = makeJob(dir);
    const first = takeLease(job, NOBODY, holder(1));
    if (!first) throw new Error('it was free');
    takeLease(job, first, holder(2));
    rmSync(join(job, '.lease-1'));
    expect(takeLease(job, NOBODY, holder(3))).toBeUndefined();
    expect(currentLease(job)).toEqual({ number: 2, holder: holder(2) });
  });

  test('whose file is spoilt has no known holder, but keeps its number', ({ dir }) => {
    const job = makeJob(dir);
    for (const text of ['', '{"pid": 1', '{"pid": -1, "identity": "x"}', 'x'.repeat(100_000)]) {
      writeFileSync(join(job, '.lease-7'), text);
      expect(currentLease(job)).toEqual({ number: 7, holder: undefined });
    }
    expect(takeLease(job, currentLease(job), holder(1))?.number).toBe(8);
  });

  test('is not confused by other hidden files', ({ dir }) => {
    const job = makeJob(dir, { '.lease-x': '', '.lease-': '', '.lease-3x': '', '.tmp-9': '', 'lease-4': '' });
    expect(currentLease(job)).toEqual(NOBODY);
  });

  test('of a directory that is gone goes to nobody', ({ dir }) => {
    expect(takeLease(join(dir, 'gone'), NOBODY, holder(1))).toBeUndefined();
  });

  test('has one holder at a time, for any order of takers and givers', ({ dir }) => {
    let number = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), fc.constantFrom('look', 'take', 'give')), { maxLength: 40 }),
        (moves) => {
          const job = makeJob(dir, {}, `20261130T121741Z-${String(number++).padStart(8, '0')}`);
          const seen = new Map<number, Lease>();
          const held = new Map<number, Lease>();
          for (const [who, move] of moves) {
            if (move === 'look') seen.set(who, currentLease(job));
            const lease = held.get(who);
            if (move === 'give' && lease) {
              releaseLease(job, lease);
              held.delete(who);
            }
            const before = seen.get(who);
            if (move === 'take' && before && !lease) {
              const taken = takeLease(job, before, holder(who + 1));
              if (taken) {
                // Whoever he saw is no longer in office, and nobody came in between.
                expect([...held.values()].every((other) => other.number < taken.number)).toBe(true);
                expect(currentLease(job)).toEqual(taken);
                held.set(who, taken);
              }
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test('goes to exactly one of any number who race for it', async ({ dir }) => {
    const rounds = 40;
    const jobs = Array.from({ length: rounds }, (_, index) =>
      makeJob(dir, {}, `20261130T121741Z-${String(index).padStart(8, '0')}`),
    );
    // Real threads on the real disk, let go at one moment; each tries every job and tells which it got.
    const gate = new SharedArrayBuffer(8);
    const racers = [1, 2, 3, 4].map(
      (pid) =>
        new Promise<number[]>((resolve, reject) => {
          const code = `
            const { parentPort, workerData } = require('node:worker_threads');
            const { linkSync, writeFileSync, unlinkSync } = require('node:fs');
            const gate = new Int32Array(workerData.gate);
            Atomics.add(gate, 1, 1); Atomics.notify(gate, 1);
            Atomics.wait(gate, 0, 0);
            const won = [];
            for (const [index, job] of workerData.jobs.entries()) {
              const temporary = job + '/.tmp-' + workerData.pid;
              writeFileSync(temporary, JSON.stringify({ pid: workerData.pid, identity: 'x' }));
              try { linkSync(temporary, job + '/.lease-1'); won.push(index); } catch {}
              unlinkSync(temporary);
            }
            parentPort.postMessage(won);`;
          const worker = new Worker(code, { eval: true, workerData: { pid, jobs, gate } });
          worker.once('message', resolve).once('error', reject);
        }),
    );
    const view = new Int32Array(gate);
    while (Atomics.load(view, 1) < racers.length) await new Promise((resolve) => setImmediate(resolve));
    Atomics.store(view, 0, 1);
    Atomics.notify(view, 0);
    const own = jobs.flatMap((job, index) => (takeLease(job, NOBODY, holder(9)) ? [index] : []));
    const won = [own, ...(await Promise.all(racers))].flat();
    expect(won.sort((a, b) => a - b)).toEqual(jobs.map((_, index) => index));
    for (const job of jobs)
      expect(JSON.parse(readFileSync(join(job, '.lease-1'), 'utf8'))).toHaveProperty('pid');
  });
});
