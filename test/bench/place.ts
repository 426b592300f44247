import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnv } from '../support/run-cli.ts';

/** A run's own directory, and the environment in which everybody's jobs land in it. */
export interface Place {
  readonly dir: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

export function openPlace(): Place {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'peer-jobs-bench-')));
  const base = join(dir, 'base');
  return {
    dir,
    base,
    env: cleanEnv({ CE_PEER_JOBS_ROOT: base }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
