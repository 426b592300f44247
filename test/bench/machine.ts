import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { python } from '../support/programs.ts';

/** What a reader needs to judge the figures by. */
export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
  readonly python: string;
  /** Processes that wanted to run beside ours, over the last minute. */
  readonly load: number;
}

export function machine(): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
    python: python === undefined ? 'none' : execFileSync(python, ['-V'], { encoding: 'utf8' }).trim(),
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

export function describeMachine(machine: Machine): string {
  return `${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}, ${machine.python}, load ${machine.load} at the end; ${machine.date}`;
}
