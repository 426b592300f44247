/** A worker that floods its log: how far it gets past the cap, and what watching it costs. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from './interruption.ts';
import { pidsOf } from './job-pids.ts';
import { cpuMs } from './process-cost.ts';
import type { Session } from './session.ts';

const LOOK_MS = 1;

export interface Flood {
  readonly capBytes: number;
  readonly peakBytes: number;
  readonly overshootMib: number;
  readonly mibPerSec: number;
  readonly workerCpuMs: number;
  readonly supervisorCpuMs: number;
  readonly keptBytes: number;
}

/** A gigabyte a second, one byte a nanosecond, as far as the disk cache takes it. */
export const PACED = [
  process.execPath,
  '-e',
  `const block = Buffer.alloc(2 ** 20), from = process.hrtime.bigint();
   for (let bytes = 0n; ; bytes += 1048576n) {
     require('node:fs').writeSync(1, block);
     while (process.hrtime.bigint() - from < bytes);
   }`,
];
/** As much as the disk cache takes, by a program that does nothing else. */
export const UNPACED = ['dd', 'if=/dev/zero', 'bs=1M', 'status=none'];

export async function flood(session: Session, argv: readonly string[], capBytes: number): Promise<Flood> {
  const { job_dir = '', job_id } = await session.call('start_job', {
    argv,
    log_max_bytes: capBytes,
    grace_secs: 0.5,
  });
  const { supervisor, worker } = pidsOf(job_dir);
  const log = join(job_dir, 'out.log');
  const supervisorBefore = cpuMs(supervisor);
  let first: { atMs: number; bytes: number } | undefined;
  let peakBytes = 0;
  let peakMs = 0;
  let workerCpuMs = 0;
  let supervisorCpuMs = 0;
  let over = false;
  const end = session.call('wait_jobs', { jobs: [job_id], max_secs: 40 }).then(() => {
    over = true;
  });
  while (!over) {
    const { size } = statSync(log);
    if (size > peakBytes) {
      first ??= { atMs: performance.now(), bytes: size };
      peakBytes = size;
      peakMs = performance.now();
    }
    workerCpuMs = Math.max(workerCpuMs, cpuMs(worker));
    if (size <= capBytes) supervisorCpuMs = cpuMs(supervisor) - supervisorBefore;
    await pause(LOOK_MS);
  }
  await end;
  return {
    capBytes,
    peakBytes,
    overshootMib: (peakBytes - capBytes) / 2 ** 20,
    mibPerSec: ((peakBytes - (first?.bytes ?? 0)) / 2 ** 20 / (peakMs - (first?.atMs ?? 0))) * 1000,
    workerCpuMs,
    supervisorCpuMs,
    keptBytes: statSync(log).size,
  };
}
