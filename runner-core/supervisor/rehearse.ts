import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { supervisionFor } from '../job/windows.ts';
import { fileOf } from '../store/job-dir.ts';
import { createExclusive, removeJobDir } from '../store/owned-file.ts';
import { finish } from './finish.ts';
import { launch } from './launch.ts';
import { supervise } from './supervise.ts';

/** /bin/sh is there: this process was started by it. */
const NO_OP = ['/bin/sh', '-c', ':'];
/** A job may be waiting: what hangs is ended soon. */
const WINDOWS = supervisionFor({}, '', { hard_secs: 1, grace_secs: 0 });

/**
 * A whole job, from its launch to its record, that nobody knows of: code that runs for the first time takes several times as
 * long, and a supervisor runs most of its code once.
 */
export async function rehearse(): Promise<void> {
  await keepAsCompiled();
  try {
    const jobDir = mkdtempSync(join(tmpdir(), 'peer-jobs-rehearsal-'));
    try {
      await goThrough(jobDir);
    } finally {
      removeJobDir(jobDir);
    }
  } catch {
    // Nobody waits for it. What hinders it will hinder the job, which tells.
  }
}

/**
 * What ran twice V8 takes for hot, and optimises it beside the end of the job, the third time: that keeps a processor from
 * telling the end for some 3 ms, for code that never runs again. A node that does not know the flag only says so on stderr.
 */
async function keepAsCompiled(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--no-opt');
}

async function goThrough(jobDir: string): Promise<void> {
  const log = fileOf(jobDir, 'log');
  createExclusive(log, '');
  createExclusive(fileOf(jobDir, 'meta'), JSON.stringify({ result_path: log, supervision: WINDOWS }));
  const supervised = await launch({
    mode: 'start',
    jobDir,
    argv: NO_OP,
    cwd: jobDir,
    env: [],
    keyed: false,
  });
  if (!supervised) return;
  // Neither waits for the disk nor tries again: a start, which does neither, may come meanwhile.
  await supervise(supervised, (...end) => finish(...end, { durable: false }));
}
