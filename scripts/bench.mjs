// Measures the built programs beside the reference and task-spooler: `npm run bench`, `npm run bench -- --scale`.
// The measurements are in test/bench/, in TypeScript; bundled here, since Node 20 runs none.
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const outfile = `${root}node_modules/.cache/bench-main-${process.pid}.mjs`;
mkdirSync(`${root}node_modules/.cache`, { recursive: true });
try {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/bench/main.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // The sources look for the repository from where they lie.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(`${root}test/bench/main.ts`).href) },
    logLevel: 'warning',
  });
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(outfile, { force: true });
}
