import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../support/programs.ts';

/** The programs as they were when the run began: a build meanwhile does not mix two versions in one figure. */
export interface Bundles {
  readonly cli: string;
  readonly server: string;
  remove(): void;
}

/** Copied to where the native addon beside them is still found. Throws unless they were built. */
export function keepBundles(): Bundles {
  const dist = join(repoRoot, 'dist');
  if (!existsSync(join(dist, 'server.mjs'))) throw new Error('nothing in dist/: run `npm run build` first');
  const cache = join(repoRoot, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const kept = mkdtempSync(join(cache, 'bench-'));
  cpSync(dist, kept, { recursive: true });
  return {
    cli: join(kept, 'peer-jobs.mjs'),
    server: join(kept, 'server.mjs'),
    remove: () => rmSync(kept, { recursive: true, force: true }),
  };
}
