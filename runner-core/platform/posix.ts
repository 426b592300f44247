import { chmodSync, mkdirSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LinuxApi, loadLinuxApi } from './linux-api.ts';
import type { Platform } from './port.ts';
import { resolvePosixWorker } from './posix-launch.ts';
import {
  awaitedChildren,
  dropLeakedDescriptors,
  prepareToSpawn,
  receivePosixSpec,
  signalProcess,
  spawnPosixWorker,
  startPosixSupervisor,
} from './posix-process.ts';
import { logFileAt, posixTreeLives, tearDownPosix } from './posix-tree.ts';
import type { ProcessTable } from './process-table.ts';

const PRIVATE_MODE = 0o700;
/** A process that is not our child tells nobody that it ends: it is looked at this often. */
const FOREIGN_EXIT_POLL_MS = 500;

/** A worker may make orphans faster than the process table is worth reading. */
const ZOMBIES_EVERY_MS = 100;

const STRAY_SIGNALS = ['SIGHUP', 'SIGINT'] as const;
const nothing = (): void => undefined;

/** Set once this process adopts orphans. */
let reaper: LinuxApi | undefined;

/** Nothing here changes who this process is. */
const euid = process.geteuid?.();

function ownedByUs(stat: Stats): boolean {
  return stat.uid === euid;
}

/** The port for Linux and macOS; what differs between them is the process table. */
export function createPosixPlatform(table: ProcessTable): Platform {
  return {
    kind: 'posix',

    defaultBases: (env) => {
      const name = `compound-engineering-${process.geteuid?.() ?? 'user'}`;
      return [...new Set([`/tmp/${name}`, `${env.TMPDIR || '/tmp'}/${name}`])];
    },
    makePrivateDir: (path) => mkdirSync(path, { mode: PRIVATE_MODE }),
    repairPrivateDir: (path) => chmodSync(path, PRIVATE_MODE),
    isPrivate: (_path, stat) => (stat.mode & 0o7777) === PRIVATE_MODE,
    ownsPath: (_path, stat) => ownedByUs(stat),
    ownsDescriptor: (_fd, stat) => ownedByUs(stat),

    resolveWorker: (argv, cwd, env) => ({ argv: resolvePosixWorker(argv, cwd, env), record: {} }),
    variableKey: (name) => name,

    identify: (pid) => table.identify(pid),
    whereabouts: (pid, identity, known) => table.locate(pid, identity, known),
    groupOf: (pid) => table.groupOf(pid),
    findSupervisor: async (logPath) => {
      const marks = table.marks(logFileAt(logPath));
      const row = (await table.list()).find(
        ({ pid, zombie }) => !zombie && marks.isSupervisor(pid) && marks.opensLog(pid),
      );
      return row && { pid: row.pid, identity: await table.identify(row.pid) };
    },
    findWorker: async ({ jobId }) => {
      const marks = table.marks(undefined);
      const leaders = (await table.list()).filter(
        ({ pid, sid, zombie }) => !zombie && sid === pid && marks.jobOf(pid) === jobId,
      );
      // The worker came first; any other that leads a session is a child of it that left.
      const [row] = leaders.sort((one, other) => one.start - other.start);
      return row && { pid: row.pid, identity: await table.identify(row.pid) };
    },
    resume: (pid) => void signalProcess(pid, 'SIGCONT'),
    boot: () => table.boot(),

    startSupervisor: (entry) => startPosixSupervisor(entry, table),
    receiveSpec: receivePosixSpec,
    detachment: () => undefined,
    prepareToSupervise: async () => {
      dropLeakedDescriptors(table);
      await adoptOrphans(table);
      await prepareToSpawn(table);
    },

    spawnWorker: (order) => spawnPosixWorker(order, table),
    awaitEnd: async (pid, identity, known) => {
      while ((await table.locate(pid, identity, known)).state !== 'gone') await sleep(FOREIGN_EXIT_POLL_MS);
    },

    requestReap: async ({ supervisor, circumstances }) => {
      if (!supervisor) return false;
      const at = await table.locate(supervisor.pid, supervisor.identity, circumstances);
      return at.state === 'alive' && signalProcess(at.pid, 'SIGTERM');
    },
    onReapRequest: (_jobDir, callback) => {
      process.on('SIGTERM', callback);
      // Its session has no terminal; a stray hang-up or interrupt must not end the watch.
      for (const signal of STRAY_SIGNALS) process.on(signal, nothing);
      return () => {
        process.off('SIGTERM', callback);
        for (const signal of STRAY_SIGNALS) process.off(signal, nothing);
      };
    },

    knowsNoDescendants,
    tearDown: async (order) => {
      const left = await tearDownPosix(order, table, reaper && knowsNoDescendants);
      await clearZombies(table);
      return left;
    },
    treeLives: (job) => posixTreeLives(job, table),
  };
}

/** Orphans of the worker come to us instead of to init; their zombies are ours to clear, since libuv does not know them. */
async function adoptOrphans(table: ProcessTable): Promise<void> {
  const api = await loadLinuxApi();
  if (!api?.becomeSubreaper()) return;
  reaper = api;
  // There is none yet; but the first call is a slow one.
  reaper.clearZombies();
  let due: NodeJS.Timeout | undefined;
  process.on('SIGCHLD', () => {
    if (due) return;
    due = setTimeout(() => {
      due = undefined;
      void clearZombies(table);
    }, ZOMBIES_EVERY_MS);
  });
}

async function clearZombies(table: ProcessTable): Promise<void> {
  if (!reaper) return;
  if (awaitedChildren.size === 0) {
    reaper.clearZombies();
    return;
  }
  for (const { pid, ppid, zombie } of table.below(process.pid) ?? (await table.list())) {
    if (zombie && ppid === process.pid && !awaitedChildren.has(pid)) reaper.clearZombie(pid);
  }
}

/**
 * A worker that has ended and been waited for has no descendant left if we have no child: every living one would be a
 * child of ours by now, or below one. One call instead of a look at every process.
 */
function knowsNoDescendants(): boolean {
  return reaper !== undefined && awaitedChildren.size === 0 && !reaper.clearZombies();
}
