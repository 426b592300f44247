import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, gone, pidsOf, ready, settled, start } from '../support/jobs.ts';
import { readStat } from '../support/proc.ts';
import { fixture, sh } from '../support/programs.ts';
import { readJobFile, readLog, readMeta, readOutcome, readReady, readReason } from '../support/read-job.ts';
import { test } from '../support/temp-base.ts';

const MiB = 1024 * 1024;
const logSize = (dir: string): number => statSync(join(dir, 'out.log')).size;

describe.concurrent('the windows', () => {
  test('a silent worker times out after the idle window, with its whole tree', async ({ temp }) => {
    const job = await start(temp, sh('sleep 60 & echo "ready $$ $!"; wait'), { flags: ['--idle-secs', '1'] });
    const pids = await ready(job);
    expect(await settled(job)).toBe('timeout');
    expect(readReason(job.dir)).toBe('no output for 1s (idle window)');
    await gone(pids);
  });

  test('output keeps a worker alive beyond the idle window', async ({ temp }) => {
    const job = await start(temp, fixture('prints-slowly.sh', 16, 0.4), { flags: ['--idle-secs', '4'] });
    expect(await settled(job)).toBe('done');
    expect(readOutcome(job.dir)?.wall_secs).toBeGreaterThan(5);
  });

  test('the hard window ends a worker that never stops talking', async ({ temp }) => {
    const job = await start(temp, sh('while :; do echo x; sleep 0.1; done'), {
      flags: ['--hard-secs', '1.5', '--idle-secs', '60'],
    });
    expect(await settled(job)).toBe('timeout');
    expect(readReason(job.dir)).toBe('hard cap 1.5s exceeded');
    expect(readOutcome(job.dir)?.wall_secs).toBeGreaterThan(1.4);
  });

  test('a worker that ignores TERM is killed after the grace, and has timed out', async ({ temp }) => {
    const job = await start(temp, fixture('ignores-term.sh'), {
      flags: ['--idle-secs', '1', '--grace-secs', '0.3'],
    });
    const pids = await ready(job);
    expect(await settled(job)).toBe('timeout');
    await gone(pids);
  });

  test('truncation of the log is a new baseline: what is printed after it is growth', async ({ temp }) => {
    // 100 KB, cut to nothing, then 6 s of short lines: measured against the first size they would count as silence.
    const job = await start(temp, fixture('truncates-log.py', 100_000, 16, 0.4), {
      flags: ['--idle-secs', '4'],
    });
    expect(await settled(job)).toBe('done');
    expect(readLog(job.dir)).toBe(Array.from({ length: 16 }, (_, line) => `${line}\n`).join(''));
  });

  test('a truncation alone is no sign of life', async ({ temp }) => {
    const job = await start(
      temp,
      sh('echo "ready $$"; n=0; while [ $n -lt 100 ]; do : > "$0"; sleep 0.1; n=$((n+1)); done', '/dev/null'),
      { flags: ['--idle-secs', '1'] },
    );
    expect(await settled(job)).toBe('timeout');
  });

  test('a worker that rotates its log away and writes on is not idle', async ({ temp }) => {
    const job = await start(temp, fixture('rotates-log.py', 8), { flags: ['--idle-secs', '4'] });
    await eventually(() => readReady(job.dir, 'out.log.1'));
    expect(await settled(job)).toBe('done');
    expect(readJobFile(job.dir, 'out.log.1')).toContain('still here');
  });

  test('unusable values in the environment leave the defaults in force', async ({ temp }) => {
    for (const bad of ['', '30abc', '-1', 'nan', 'inf', '99999999999']) {
      const job = await start(temp, sh('true'), { env: { CE_PEER_IDLE_SECS: bad, CE_PEER_HARD_SECS: bad } });
      expect(readMeta(job.dir).supervision).toMatchObject({ idle: 240, hard: 1230 });
    }
  });
});

describe('the log cap', () => {
  test('a flood is stopped soon after the cap, and the file is cut back to it', async ({ temp }) => {
    const cap = 4 * MiB;
    const job = await start(temp, ['yes'], { flags: ['--log-max-bytes', String(cap)] });
    let largest = 0;
    await eventually(() => {
      largest = Math.max(largest, logSize(job.dir));
      return readJobFile(job.dir, 'status') !== undefined;
    });
    expect(await settled(job)).toBe('failed');
    expect(readReason(job.dir)).toMatch(
      new RegExp(`^out\\.log exceeded byte cap \\(\\d+ > ${cap} bytes\\)$`),
    );
    expect(logSize(job.dir)).toBe(cap);
    expect(readOutcome(job.dir)?.log_bytes).toBe(cap);
    // How far it went past the cap before it was stopped: what was seen from outside, and what the supervisor saw.
    const seen = Number(/\((\d+) >/.exec(readReason(job.dir) ?? '')?.[1]);
    expect(Math.max(largest, seen) - cap).toBeLessThan(256 * MiB);
    await gone([pidsOf(job).worker_pid]);
  });

  test('a flood that ignores TERM is held at the cap during its grace', async ({ temp }) => {
    const cap = MiB;
    const job = await start(temp, sh("trap '' TERM; exec yes"), {
      flags: ['--log-max-bytes', String(cap), '--grace-secs', '2'],
    });
    let largest = 0;
    await eventually(() => {
      largest = Math.max(largest, logSize(job.dir));
      return readJobFile(job.dir, 'status') !== undefined;
    });
    expect(largest).toBeLessThan(512 * MiB);
    expect(logSize(job.dir)).toBe(cap);
  });
});

describe('a supervisor at rest', () => {
  test('does not wake up while nothing happens', async ({ temp }) => {
    const job = await start(temp, sh('exec sleep 30'));
    const { supervisor_pid } = pidsOf(job);
    const switches = async () => {
      const status = readFileSync(`/proc/${supervisor_pid}/status`, 'utf8');
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    };
    // Settled in: two looks a second apart that differ by a few wake-ups at most. Ten a second would be twenty.
    await eventually(async () => {
      const before = await switches();
      await ask(temp, 'wait', '--max-secs', '2', job.id);
      return (await switches()) - before < 8;
    });
    await eventually(() => readStat(supervisor_pid)?.state === 'S');
    await ask(temp, 'reap', job.id);
  });
});
