import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

const record = z.looseObject({ supervisor_pid: z.number(), worker_pid: z.number() });

/** Who supervises a job and who works in it. */
export function pidsOf(jobDir: string): { supervisor: number; worker: number } {
  const { supervisor_pid, worker_pid } = record.parse(JSON.parse(readFileSync(join(jobDir, 'pid'), 'utf8')));
  return { supervisor: supervisor_pid, worker: worker_pid };
}
