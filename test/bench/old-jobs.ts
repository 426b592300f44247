import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fills a base with settled jobs as they lie about at the end of a busy day, `perRun` in each run. */
export function layOldJobs(base: string, count: number, perRun: number): void {
  for (let number = 0; number < count; number += 1) {
    const run = `old-${Math.floor(number / perRun)}`;
    const id = `20260101T000000Z-${number.toString(16).padStart(8, '0')}`;
    const dir = join(base, 'adhoc', run, 'jobs', id);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const meta = { job_id: id, skill: 'adhoc', run_id: run, started_at: '2026-01-01T00:00:00Z' };
    writeFileSync(join(dir, 'meta.json'), JSON.stringify(meta));
    writeFileSync(join(dir, 'pid'), '{"supervisor_pid":null,"worker_pid":null}');
    writeFileSync(join(dir, 'out.log'), '');
    writeFileSync(join(dir, 'reason'), 'worker exited 0\n');
    writeFileSync(join(dir, 'status'), 'done\n');
  }
}
