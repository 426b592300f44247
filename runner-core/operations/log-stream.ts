import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { settle } from '../engine/index.ts';
import { isTerminal, type JobState } from '../job/state.ts';
import { findJob } from '../store/find.ts';
import { fileOf, recordedState } from '../store/job-dir.ts';
import { lstatIfAny, readOwnedPage } from '../store/owned-file.ts';
import { log } from './log.ts';
import type { Caller } from './operation.ts';

const BLOCK_BYTES = 64 * 1024;
/** Further back nobody looks for the start of a line. */
const SCAN_MAX_BYTES = 64 * 1024 * 1024;
/** A follower looks this often where no event reaches it. */
const QUIET_LOOK_MS = 2000;
/** A flood is read this often, not once a write. */
const BREATH_MS = 50;

/** A job's log as its bytes. Offsets and sizes in bytes. */
export interface LogStream {
  readonly jobDir: string;
  readonly path: string;
  size(): number;
  /** At most `maxBytes` from `offset`; empty at the end. Throws `refused` where something else lies there by now. */
  read(offset: number, maxBytes: number): Buffer;
  /** Where the last `count` lines begin. */
  startOfLastLines(count: number): number;
  /** Resolves with the state once the log is longer than `beyond`, or the job no longer runs. */
  growth(beyond: number): Promise<JobState>;
}

/** Opens the log of a job, after the checks and with the errors of the `log` operation. */
export async function openLog(
  input: {
    job: string;
    skill?: string | undefined;
    offset?: number | undefined;
    wait_secs?: number | undefined;
  },
  caller: Caller,
): Promise<LogStream> {
  const { path } = await log.run({ ...input, max_bytes: 1 }, caller);
  const jobDir = findJob(input.job, { env: caller.env, cwd: caller.cwd, skill: input.skill });
  const size = (): number => lstatIfAny(path)?.size ?? 0;
  const read = (offset: number, maxBytes: number): Buffer => readOwnedPage(path, offset, maxBytes).data;
  return {
    jobDir,
    path,
    size,
    read,
    startOfLastLines: (count) => startOfLastLines(count, size(), read),
    growth: async (beyond) => {
      for (;;) {
        // Watched before it is looked at: what happens in between is not missed.
        const event = nextEvent([path, fileOf(jobDir, 'pid')], QUIET_LOOK_MS);
        try {
          const recorded = recordedState(jobDir);
          // A log that was cut shorter is news as well.
          if (size() !== beyond || isTerminal(recorded)) return recorded;
          const state = await settle(jobDir, caller.entry);
          if (state !== 'running') return state;
          await event.come;
        } finally {
          event.forget();
        }
        await sleep(BREATH_MS);
      }
    },
  };
}

function startOfLastLines(
  count: number,
  size: number,
  read: (offset: number, maxBytes: number) => Buffer,
): number {
  if (count === 0) return size;
  // A line feed at the very end closes the last line, and begins none.
  let wanted = count;
  for (let end = size; end > 0 && size - end < SCAN_MAX_BYTES; ) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const block = read(from, end - from);
    for (let at = block.lastIndexOf(10); at !== -1; at = at === 0 ? -1 : block.lastIndexOf(10, at - 1)) {
      if (from + at === size - 1) continue;
      wanted -= 1;
      if (wanted === 0) return from + at + 1;
    }
    end = from;
  }
  return size <= SCAN_MAX_BYTES ? 0 : size - SCAN_MAX_BYTES;
}

/** `come` resolves when one of the files changes, at the latest after `ms`. To be forgotten in any case. */
function nextEvent(paths: readonly string[], ms: number): { come: Promise<void>; forget(): void } {
  const endings: (() => void)[] = [];
  const forget = (): void => {
    for (const end of endings.splice(0)) end();
  };
  const come = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    endings.push(() => clearTimeout(timer));
    for (const path of paths) {
      try {
        const watcher = watch(path, () => resolve()).on('error', () => watcher.close());
        endings.push(() => watcher.close());
      } catch {
        // No watcher to be had: the timer looks.
      }
    }
  });
  return { come, forget };
}
