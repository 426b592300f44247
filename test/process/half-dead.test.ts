/** A process whose first thread has ended while others go on: /proc calls it a zombie, and it lives. */
import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { ask, gone, type Job, killSupervisor, pidsOf, ready, settled, start } from '../support/jobs.ts';
import { hasProc, readStat } from '../support/proc.ts';
import { fixture, python, sh } from '../support/programs.ts';
import { readOutcome, readReason, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const HALF_DEAD = 'main-thread-ends.py';

async function halfDead(temp: TempBase): Promise<{ job: Job; worker: number }> {
  const job = await start(temp, fixture(HALF_DEAD, temp.at('go')), { flags: ['--result-path', 'out'] });
  const [worker] = await ready(job);
  expect(readStat(worker)).toMatchObject({ state: 'Z', threads: 2 });
  return { job, worker };
}

describe.skipIf(!hasProc || python === undefined)('a worker whose first thread has ended is alive:', () => {
  test('reap ends it', async ({ temp }) => {
    const { job, worker } = await halfDead(temp);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    expect(readReason(job.dir)).toBe('reaped on request before completion');
    await gone([worker]);
  });

  test('it is adopted when its supervisor is gone, and ended by reap', async ({ temp }) => {
    const { job, worker } = await halfDead(temp);
    await killSupervisor(job);
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(pidsOf(job).worker_pid).toBe(worker);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    await gone([worker]);
  });

  test('its end is the end of its last thread, for its supervisor and for an adopter', async ({ temp }) => {
    for (const adopted of [false, true]) {
      const { job } = await halfDead(temp);
      if (adopted) await killSupervisor(job);
      expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
      writeFileSync(temp.at('go'), '');
      expect(await settled(job)).toBe('done');
      expect(readOutcome(job.dir)?.classified_by).toBe(adopted ? 'adopter' : 'supervisor');
      rmSync(temp.at('go'));
      rmSync(temp.at('out'));
    }
  });

  test('it is found by its mark where the record tells nothing', async ({ temp }) => {
    const { job, worker } = await halfDead(temp);
    await killSupervisor(job);
    writeFileSync(`${job.dir}/pid`, '');
    expect(await ask(temp, 'status', job.id)).toBe('0 "running\\n"');
    expect(pidsOf(job).worker_pid).toBe(worker);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    await gone([worker]);
  });

  test('as a descendant in a session of its own it is ended with the tree', async ({ temp }) => {
    const job = await start(temp, sh('setsid "$@" & wait', ...fixture(HALF_DEAD)));
    const members = await ready(job);
    await killSupervisor(job);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    await gone(members);
  });
});
