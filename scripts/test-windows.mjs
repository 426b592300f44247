// Runs the Windows suite (test/windows) inside Windows' own Node: under Wine here, by itself on Windows.
// Usage: node scripts/test-windows.mjs [--only TEXT] [--repeat N] [--results FILE] [--prepare-secs N]
// Ends with a line `windows: N passed, N failed`. Where it cannot run it says loudly why, and ends with 0 and `windows: skipped`.
import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { Obstacle, prepareWine, stopWine } from './wine.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '1' },
    results: { type: 'string' },
    // How long it may take to install and fetch what is missing.
    'prepare-secs': { type: 'string', default: '600' },
  },
});

/** Far beyond the four minutes that it takes, even on a machine with ten times its work: a suite that hangs is ended. */
const SUITE_BUDGET_MS = 2_400_000;
const FOREIGN_USER = 12_345;
const onWindows = process.platform === 'win32';

/** The bundles, and the suite that tests them, with koffi and the fixtures beside them. */
async function layOut(app, modules) {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  cpSync(join(root, 'dist'), app, { recursive: true });
  cpSync(join(root, 'test/windows/fixtures'), join(app, 'fixtures'), { recursive: true });
  copyFileSync(
    join(root, 'test/fixtures/never-acknowledges.cjs'),
    join(app, 'fixtures/never-acknowledges.cjs'),
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

/** Says loudly that nothing was run, and why. */
function skip(problem) {
  console.log(`\n!!! The Windows suite was NOT run: ${problem}. !!!\n`);
  if (values.results) writeFileSync(values.results, JSON.stringify({ skipped: problem, tests: [] }));
  console.log('windows: skipped');
}

// Windows' temporary folder may come with a short name (RUNNER~1), which no program calls itself by.
const work = realpathSync.native(mkdtempSync(join(tmpdir(), 'peer-jobs-windows-')));
const app = join(work, 'app');
let wine;

function cleanUp() {
  if (wine) stopWine(wine.env);
  rmSync(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

async function runRounds() {
  await layOut(app, wine?.modules ?? join(root, 'node_modules'));
  const env = { ...(wine?.env ?? process.env), ...foreignThings(work) };
  const command = wine ? ['wine', wine.node] : [process.execPath];
  const rounds = Number(values.repeat);
  const all = [];
  for (let round = 1; round <= rounds; round += 1) {
    const from = performance.now();
    const tests = await runSuite(command, env, app, work);
    tell(rounds > 1 ? tests.filter(({ outcome }) => outcome === 'failed') : tests);
    const secs = Math.round((performance.now() - from) / 1000);
    if (rounds > 1) console.log(`round ${round}: ${tests.length} tests, ${secs} s`);
    all.push(...tests);
  }
  if (values.results) writeFileSync(values.results, JSON.stringify({ tests: all }));
  const count = (outcome) => all.filter((test) => test.outcome === outcome).length;
  const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : '';
  console.log(`windows: ${count('passed')} passed, ${count('failed')} failed${skipped}`);
  process.exitCode = count('failed') > 0 ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    cleanUp();
    process.exit(1);
  });
}
try {
  if (!onWindows) wine = prepareWine(work, Number(values['prepare-secs']) * 1000);
  await runRounds();
} catch (error) {
  if (!(error instanceof Obstacle)) throw error;
  skip(error.message);
} finally {
  cleanUp();
}
