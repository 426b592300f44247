/** The real clients, from the npm registry, kept under node_modules/.cache. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../support/programs.ts';

/** The versions that the notes were measured with. `PEER_JOBS_CLIENTS=latest` takes the newest instead. */
const VERSIONS = { '@anthropic-ai/claude-code': '2.1.332', '@openai/codex': '0.171.0' };

const newest = process.env.PEER_JOBS_CLIENTS === 'latest';
const folder = join(repoRoot, 'node_modules/.cache/peer-jobs-clients', newest ? 'latest' : 'pinned');

export const claudeCode = join(folder, 'node_modules/.bin/claude');
export const codex = join(folder, 'node_modules/.bin/codex');

export default function fetchClients(): void {
  const packages = Object.entries(VERSIONS).map(
    ([name, version]) => `${name}@${newest ? 'latest' : version}`,
  );
  const ready = join(folder, `ready-${packages.map((name) => name.replace(/[^\w.-]/g, '_')).join('-')}`);
  if (!newest && existsSync(ready)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const run = (file: string, args: readonly string[]): void => {
    execFileSync(file, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...packages]);
  // Links the program of this platform, which is all that the package's install script does.
  run(process.execPath, [join(folder, 'node_modules/@anthropic-ai/claude-code/install.cjs')]);
  writeFileSync(ready, '');
}
