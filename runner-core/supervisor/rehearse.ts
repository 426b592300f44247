import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { supervisionFor } from '../job/windows.ts';
import { fileOf } from '../store/job-dir.ts';
import { createExclusive, removeJobDir } from '../store/owned-file.ts';
import { launch } from './launch.ts';
import { supervise } from './supervise.ts';

/** /bin/sh is there: this process was started by it. */
const NO_OP = ['/bin/sh', '-c', ':'];

/**
 * A whole job, from its launch to its record, that nobody knows of: code that runs for the first time takes several times as
 * long, and a supervisor runs most of its code once.
 */
export async function rehearse(): Promise<void> {
  const jobDir = mkdtempSync(join(tmpdir(), 'peer-jobs-rehearsal-'));
  try {
    const log = fileOf(jobDir, 'log');
    createExclusive(log, '');
    const meta = { result_path: log, supervision: supervisionFor({}, '') };
    createExclusive(fileOf(jobDir, 'meta'), JSON.stringify(meta));
    const supervised = await launch({
      mode: 'start',
      jobDir,
      argv: NO_OP,
      cwd: jobDir,
      env: [],
      keyed: false,
    });
    if (supervised) await supervise(supervised);
  } catch {
    // Nobody waits for it. What hinders it will hinder the job, which tells.
  } finally {
    removeJobDir(jobDir);
  }
}
