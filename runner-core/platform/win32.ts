import { existsSync, type FSWatcher, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Platform } from './port.ts';
import { startSupervisor } from './win32-detach.ts';
import { findSupervisor } from './win32-marks.ts';
import { awaitEnd, identify, locate } from './win32-process.ts';
import {
  isPrivateDir,
  makePrivateDir,
  ownsDescriptor,
  ownsPath,
  repairPrivateDir,
} from './win32-security.ts';
import { detachment, receiveSpec } from './win32-supervisor.ts';
import { findWorker, tearDown, treeLives } from './win32-tree.ts';
import { launchQuery, ownJobIsEmpty, spawnWorker } from './win32-worker.ts';
import { variableKey, variableOf } from './windows-environment.ts';
import { resolveWindowsWorker } from './windows-launch.ts';

const BASE_NAME = 'compound-engineering-jobs';
/** Put into the job directory by whoever wants the job to end; the reference looks for the same. */
const REAP_MARKER = '.reap';
/** Network drives and some others raise no events. */
const MARKER_POLL_MS = 5000;
/** The wall clock may be set a little between two looks; a boot takes longer than this. */
const BOOT_ROUND_SECS = 10;

/** The port for native Windows. Everything raw is behind win32-api.ts, which is loaded at its first use. */
export const windowsPlatform: Platform = {
  kind: 'windows',

  defaultBases: (env) => {
    const bases = [variableOf(env, 'LOCALAPPDATA'), tmpdir()];
    return [...new Set(bases.flatMap((base) => (base ? [join(base, BASE_NAME)] : [])))];
  },
  makePrivateDir,
  repairPrivateDir,
  isPrivate: (path) => isPrivateDir(path),
  ownsPath: (path) => ownsPath(path),
  ownsDescriptor: (fd) => ownsDescriptor(fd),
  variableKey,

  resolveWorker: (argv, cwd, env) => {
    const { argv: resolved, posixShell } = resolveWindowsWorker(argv, launchQuery(cwd, env));
    return { argv: resolved, record: posixShell === undefined ? {} : { windows_posix_shell: posixShell } };
  },

  identify: async (pid) => identify(pid),
  whereabouts: async (pid, identity, known) => locate(pid, identity, known),
  groupOf: async () => undefined,
  findWorker: async (job) => findWorker(job),
  findSupervisor: async (logPath) => findSupervisor(basename(dirname(logPath))),
  resume: () => undefined,
  boot: async () => {
    const bootSecs = Date.now() / 1000 - uptime();
    return `windows/${Math.round(bootSecs / BOOT_ROUND_SECS)}`;
  },

  startSupervisor,
  receiveSpec: async () => receiveSpec(),
  detachment: () => detachment(),
  prepareToSupervise: async () => undefined,

  spawnWorker,
  awaitEnd,

  requestReap: async ({ jobDir, supervisor, circumstances }) => {
    if (!supervisor) return false;
    if (locate(supervisor.pid, supervisor.identity, circumstances).state !== 'alive') return false;
    try {
      writeFileSync(join(jobDir, REAP_MARKER), 'reap\n');
      return true;
    } catch {
      // A full disk: the caller ends the job by itself.
      return false;
    }
  },
  onReapRequest: (jobDir, callback) => {
    let told = false;
    const marker = join(jobDir, REAP_MARKER);
    const look = (): void => {
      if (told || !existsSync(marker)) return;
      told = true;
      clearInterval(polling);
      try {
        rmSync(marker, { recursive: true, force: true });
      } catch {
        // Whoever asked, or a virus scanner, still has it open: it goes with what else is tidied away at the end.
      }
      callback();
    };
    const polling = setInterval(look, MARKER_POLL_MS);
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(jobDir, (_event, name) => {
        if (name === null || name === REAP_MARKER) look();
      }).on('error', () => watcher?.close());
    } catch {
      // Then it is looked for from time to time.
    }
    look();
    return () => {
      clearInterval(polling);
      watcher?.close();
    };
  },

  knowsNoDescendants: ownJobIsEmpty,
  tearDown,
  treeLives: async (job) => treeLives(job),
};
