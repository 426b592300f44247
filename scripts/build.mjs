// Bundles the programs. Each is one file that bare Node can run, with nothing installed beside it.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
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

const commonScope = "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;";

const programs = [
  {
    entry: 'runner-core/cli/main.ts',
    outfile: 'dist/peer-jobs.mjs',
    shebang: '#!/usr/bin/env node\n',
    mode: 0o755,
    // Most calls are done by the little that is left in front.
    attached: [
      'runner-core/cli/dispatch.ts',
      'runner-core/supervisor/main.ts',
      'runner-core/engine/inside.ts',
    ],
  },
  // Found beside the others by its name, which tells that it is of the same version.
  {
    entry: 'runner-core/supervisor/program/main.ts',
    // Not an ES module: Node loads those by more code of its own.
    outfile: `dist/supervisor-${version}.cjs`,
    shebang: '',
    mode: 0o644,
    scope: commonScope,
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

/**
 * `import()` of what is not bundled becomes `require`: Node's loader for ES modules resolves and reads at leisure, on threads
 * that it makes first, and looks at each thing that one of Node's own modules exports, loading some more with that.
 */
const requiring = {
  name: 'requiring',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:.*|koffi)$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: 'requiring' } : { path, external: true },
    );
    onLoad({ filter: /.*/, namespace: 'requiring' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
  },
};

/**
 * Parts of a program that stand behind it in a comment, each a program by itself: the parser passes over a comment at once,
 * as it does not over functions that are never called. `import()` of one reads it out of the file.
 */
function attaching(entries, texts) {
  const name = 'attaching';
  const setup = ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
      const file = relative(root, resolve(resolveDir, path));
      if (kind === 'dynamic-import' && entries.includes(file)) return { path: file, namespace: name };
    });
    onLoad({ filter: /.*/, namespace: name }, async ({ path }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [path], format: 'cjs', write: false });
      texts.set(path, outputFiles[0].text);
      return { contents: extractor(path) };
    });
  };
  return { name, setup };
}

/** Stands for the end of a comment in a text within one. */
const END = '*@/';

/** Reads one attached part and runs it. `Function`, since `import()` works in it as it does here. */
function extractor(path) {
  return `
    const file = require('node:fs').readFileSync(require('node:url').fileURLToPath(__moduleUrl), 'latin1');
    const begin = ${JSON.stringify(`/*${path}\n`)};
    const text = file.slice(file.lastIndexOf(begin) + begin.length);
    const code = text.slice(0, text.indexOf('*/')).replaceAll(${JSON.stringify(END)}, '*/');
    Function('module', 'require', '__moduleUrl', code)(module, require, __moduleUrl);
  `;
}

function attachment([path, text]) {
  if (text.includes(END)) throw new Error(`${path} holds ${END}`);
  return `/*${path}\n${text.replaceAll('*/', END)}*/\n`;
}

const common = {
  absWorkingDir: root,
  bundle: true,
  // Half the text is half the time to parse it.
  minify: true,
  platform: 'node',
  target: 'node20',
  define: {
    __VERSION__: JSON.stringify(version),
    'import.meta.url': '__moduleUrl',
    'process.env.NODE_ENV': '"production"',
  },
  // A native addon (koffi) cannot be bundled. It is loaded when used, and the programs do without it where they can.
  plugins: [withoutDeveloperTools, requiring],
  // One character beyond Latin-1 would double the memory that the whole text takes.
  charset: 'ascii',
  legalComments: 'none',
  sourcemap: false,
  logLevel: 'warning',
};

async function bundle({
  entry,
  outfile,
  shebang,
  mode,
  format = 'iife',
  scope = moduleScope,
  attached = [],
}) {
  if (!existsSync(root + entry)) throw new Error(`build: ${entry} does not exist`);
  const texts = new Map();
  await build({
    ...common,
    entryPoints: [entry],
    outfile,
    format,
    banner: { js: shebang + scope + versionCheck },
    plugins: [...common.plugins, attaching(attached, texts)],
  });
  appendFileSync(root + outfile, [...texts].map(attachment).join(''));
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
