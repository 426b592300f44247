import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import type { ResultEvidence } from '../job/classify.ts';
import { jsonProblem } from '../job/json-problem.ts';
import type { MetaRecord, ResultBaseline } from '../job/records.ts';
import { readOwned } from './owned-file.ts';

function fingerprint(stat: BigIntStats): ResultBaseline {
  return {
    dev: String(stat.dev),
    ino: String(stat.ino),
    size: String(stat.size),
    mtime_ns: String(stat.mtimeNs),
  };
}

/**
 * What lies at the result path before the job starts, so that it is not taken for the job's own result. `elsewhere`: for a
 * job that may run on another host.
 */
export function baselineOf(path: string, elsewhere = false): ResultBaseline | undefined {
  try {
    const baseline = fingerprint(lstatSync(path, { bigint: true }));
    return elsewhere ? { ...baseline, dev: '' } : baseline;
  } catch {
    // ENOENT, or a way that leads nowhere (ENOTDIR, ELOOP, EACCES): the worker's business.
    return undefined;
  }
}

/** What lies at the declared result path now. Never waits, never follows a link at the path itself. */
export function inspectResult(meta: MetaRecord | undefined, capBytes: number): ResultEvidence {
  const path = meta?.result_path;
  if (!path) return { kind: 'undeclared' };
  let stat: BigIntStats | undefined;
  try {
    stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // ENOTDIR, EACCES, ELOOP: nothing that could be read as a result.
    return { kind: 'absent' };
  }
  if (!stat) return { kind: 'absent' };
  if (!stat.isFile()) return { kind: 'not-regular' };
  if (stat.size === 0n) return { kind: 'empty' };
  const before = meta.result_baseline;
  const now = fingerprint(stat);
  if (
    before &&
    // A shared file system has another device number on each host; then none was kept.
    (before.dev === '' || now.dev === before.dev) &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtime_ns === before.mtime_ns
  ) {
    return { kind: 'stale' };
  }
  const bytes = Number(stat.size);
  if (meta.result_format === 'json' && bytes <= capBytes) {
    const problem = readProblem(path, capBytes);
    if (problem !== undefined) return { kind: 'invalid', problem };
  }
  return { kind: 'present', bytes };
}

function readProblem(path: string, capBytes: number): string | undefined {
  try {
    return jsonProblem(readOwned(path, capBytes));
  } catch (error) {
    return messageOf(error);
  }
}

/** SHA-256 of a result, in hex; undefined where it is not a plain file of at most `capBytes`. */
export async function digestOf(path: string, capBytes: number): Promise<string | undefined> {
  try {
    const { createHash } = await import('node:crypto');
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile() || stat.size > capBytes) return undefined;
      const hash = createHash('sha256');
      const buffer = Buffer.alloc(64 * 1024);
      for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer))
        hash.update(buffer.subarray(0, got));
      return hash.digest('hex');
    } finally {
      closeSync(fd);
    }
  } catch {
    // Replaced or gone meanwhile: then there is nothing to vouch for.
    return undefined;
  }
}
