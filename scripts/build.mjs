// Bundles the programs. Each is one file that bare Node can run, with nothing installed beside it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const { build } = await import('esbuild').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('build: what it needs is not installed; run npm ci first');
  process.exit(1);
});

const root = fileURLToPath(new URL('..', import.meta.url));
const { version, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

// As one function body, a bundle loads Node's own modules when they are used and not all of them at the start, which
// import statements would; so it needs the two things that only an ES module has.
const moduleScope =
  "import{createRequire as __createRequire}from'node:module';" +
  'const require=__createRequire(import.meta.url);const __moduleUrl=import.meta.url;';

const nodeMin = Number(/\d+/.exec(engines.node)[0]);
// Before anything that an older one would trip over: it must be able to read all of the bundle, and run no more than this.
const versionCheck =
  `if(+process.versions.node.split('.')[0]<${nodeMin}){require('fs').writeSync(2,'peer-jobs needs Node ${nodeMin} or newer; ` +
  "this is '+process.versions.node+' ('+process.execPath+')\\n');process.exit(1)}";

const programs = [
  {
    entry: 'runner-core/cli/main.ts',
    outfile: 'dist/peer-jobs.mjs',
    shebang: '#!/usr/bin/env node\n',
    mode: 0o755,
  },
  // Found beside the others by its name, which tells that it is of the same version.
  {
    entry: 'runner-core/supervisor/program/main.ts',
    outfile: `dist/supervisor-${version}.mjs`,
    shebang: '',
    mode: 0o644,
  },
  { entry: 'server/main.ts', outfile: 'dist/server.mjs', shebang: '', mode: 0o644 },
  // The terminal library awaits at its top, which only an ES module may.
  {
    entry: 'runner-core/cli/watch/run-watch.tsx',
    outfile: 'dist/watch.mjs',
    shebang: '',
    mode: 0o644,
    format: 'esm',
  },
];

// The terminal library imports them for DEV=true alone, from inside its bundle: absent, they would be missed at once.
const withoutDeveloperTools = {
  name: 'without-developer-tools',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'export default {}' }));
  },
};

async function bundle({ entry, outfile, shebang, mode, format = 'iife' }) {
  if (!existsSync(root + entry)) throw new Error(`build: ${entry} does not exist`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format,
    // Half the text is half the time to parse it.
    minify: true,
    platform: 'node',
    target: 'node20',
    // A native addon cannot be bundled. It is imported when used, and the programs do without it where they can.
    external: ['koffi'],
    banner: { js: shebang + moduleScope + versionCheck },
    define: {
      __VERSION__: JSON.stringify(version),
      'import.meta.url': '__moduleUrl',
      'process.env.NODE_ENV': '"production"',
    },
    plugins: [withoutDeveloperTools],
    // One character beyond Latin-1 would double the memory that the whole text takes.
    charset: 'ascii',
    legalComments: 'none',
    sourcemap: false,
    logLevel: 'warning',
  });
  await chmod(root + outfile, mode);
  console.log(`${outfile}  ${Math.ceil(statSync(root + outfile).size / 1024)} KiB`);
}

const outcomes = await Promise.allSettled(programs.map(bundle));
for (const { reason } of outcomes.filter(({ status }) => status === 'rejected')) {
  // esbuild has printed its own errors already.
  if (!reason.errors) console.error(reason.message);
  process.exitCode = 1;
}
if (!process.exitCode) {
  // npm puts it where man looks.
  const manual = execFileSync(process.execPath, [`${root}dist/peer-jobs.mjs`, 'man']);
  writeFileSync(`${root}dist/peer-jobs.1`, manual);
}
