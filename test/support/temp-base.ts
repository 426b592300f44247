/** A test's own place on the disk, and its own processes. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as plainTest } from 'vitest';
import { Ledger } from './ledger.ts';
import { engineUnderTest, type SideName } from './programs.ts';
import { type CliRun, cleanEnv, type RunOptions, runCli } from './run-cli.ts';

export interface TempBase {
  /** Holds `base` and `scratch`, and nothing else; unique to the test. */
  readonly root: string;
  /** For CE_PEER_JOBS_ROOT. Not made beforehand: the runner does that. Never a place for a test's own files. */
  readonly base: string;
  /** For results, scripts and whatever else the test needs; the working directory of what it runs. */
  readonly scratch: string;
  /** A clean environment with CE_PEER_JOBS_ROOT, and what the suite's engine needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly ledger: Ledger;
  /** Runs a command line with `env` and `extra`, in `scratch` unless told otherwise. */
  run(
    side: SideName,
    args: readonly string[],
    options?: RunOptions & { extra?: Readonly<Record<string, string>> },
  ): Promise<CliRun>;
  /** A path in `scratch`. */
  at(name: string): string;
  /** Writes a file in `scratch` and gives its path. */
  file(name: string, text: string | Buffer, mode?: number): string;
  /** Fails if anything that the test started still lives, and removes the directory. */
  close(): Promise<void>;
}

/** `extra`: variables for all that the test runs. */
export function openTempBase(extra: Readonly<Record<string, string>> = {}): TempBase {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'peer-jobs-test-')));
  const base = join(root, 'base');
  const scratch = join(root, 'scratch');
  mkdirSync(scratch);
  const env = cleanEnv({ ...extra, CE_PEER_JOBS_ROOT: base });
  const ledger = new Ledger(root);
  const at = (name: string): string => join(scratch, name);
  return {
    root,
    base,
    scratch,
    env,
    ledger,
    at,
    run: (side, args, { extra, ...options } = {}) =>
      runCli(side, args, { cwd: scratch, ...options, env: { ...(options.env ?? env), ...extra } }),
    file: (name, text, mode = 0o644) => {
      writeFileSync(at(name), text, { mode });
      return at(name);
    },
    close: async () => {
      try {
        await ledger.close();
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    },
  };
}

/** Opens a temp base for the time of `part`, and closes it whatever comes of that. */
export async function withTempBase(
  extra: Readonly<Record<string, string>>,
  part: (temp: TempBase) => Promise<void>,
): Promise<void> {
  const temp = openTempBase(extra);
  try {
    await part(temp);
  } finally {
    await temp.close();
  }
}

/**
 * A test that owns a temp base; one that leaves a process behind fails. `engine` is what the callers' environment says of
 * where jobs run: nothing, unless the file is run by the project `slurm` as well.
 */
export const test = plainTest.extend<{ engine: Readonly<Record<string, string>>; temp: TempBase }>({
  engine: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest wants a destructured first parameter
    async ({}, use) => {
      if (engineUnderTest === 'local') return use({});
      const { withCluster } = await import('./slurm-cluster.ts');
      await withCluster({}, (cluster) => use({ ...cluster.env, PEER_JOBS_ENGINE: 'slurm' }));
    },
    { scope: 'file' },
  ],
  temp: async ({ engine }, use) => withTempBase(engine, use),
});
