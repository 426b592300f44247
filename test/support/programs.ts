/** The programs that tests run: ours, the reference, an interpreter, and the fixtures. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = fileURLToPath(new URL('../../', import.meta.url));

export type Argv = readonly [string, ...string[]];
export type SideName = 'reference' | 'ours';

const referencePath = join(repoRoot, '../shared/reference/peer-job-runner.py');
const oursPath = join(repoRoot, 'dist/peer-jobs.mjs');

/** To develop the suite itself: `reference` puts the reference in our place. */
export const oursIsReference = process.env.PEER_JOBS_TEST_SUBJECT === 'reference';

/** Where the jobs of a suite run. The project `slurm` runs files of other suites once more, on its cluster. */
export const engineUnderTest = process.env.PEER_JOBS_TEST_ENGINE === 'slurm' ? 'slurm' : 'local';

/** The interpreter itself rather than a version manager's shim, whose own start-up would be measured with it. */
export const python: string | undefined = realPython();

function realPython(): string | undefined {
  try {
    const path = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return path || undefined;
  } catch {
    return undefined;
  }
}

/** Why the reference cannot be run here, or undefined when it can. */
export function referenceMissing(): string | undefined {
  if (process.platform === 'win32') return 'the differential suite compares POSIX behaviour';
  if (python === undefined) return 'no python3 on this machine, so the reference cannot be run';
  if (!existsSync(referencePath)) return 'no ../shared/reference/peer-job-runner.py beside the repository';
  return undefined;
}

/** The argv, without arguments, of either command line. */
export function commandOf(side: SideName): Argv {
  if (side === 'ours' && !oursIsReference) {
    if (!existsSync(oursPath)) throw new Error('dist/peer-jobs.mjs is not there: run `npm run build` first');
    return [process.execPath, oursPath];
  }
  if (python === undefined) throw new Error(referenceMissing());
  return [python, referencePath];
}

/** The argv of a program in test/fixtures, by its full name: `fixture('ignores-term.sh')`. */
export function fixture(name: string, ...args: readonly (string | number)[]): Argv {
  const path = join(repoRoot, 'test/fixtures', name);
  if (!existsSync(path)) throw new Error(`no fixture ${name}`);
  return [interpreterOf(name), path, ...args.map(String)];
}

function interpreterOf(name: string): string {
  if (name.endsWith('.sh')) return '/bin/sh';
  if (!name.endsWith('.py')) return process.execPath;
  if (python === undefined) throw new Error('no python3 on this machine');
  return python;
}

/** The argv of a shell one-liner. */
export function sh(script: string, ...args: readonly string[]): Argv {
  return ['/bin/sh', '-c', script, 'sh', ...args];
}
