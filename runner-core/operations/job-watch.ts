import { watch } from 'node:fs';
import { settle } from '../engine/index.ts';
import type { JobState } from '../job/state.ts';
import { WAIT_POLL_MS } from '../limits.ts';
import { fileOf } from '../store/job-dir.ts';

/** Without a watcher (a user has 128 of them on many a Linux, and each supervisor takes one), a wait looks this often. */
const BLIND_POLL_MS = 100;
/** Looks at many jobs must leave time for something else. */
const BLIND_MS_PER_JOB = 5;

/** One running job under watch, for as many waits of this process as there are. */
class JobWatch {
  state: JobState = 'running';
  error: unknown;
  readonly listeners = new Set<() => void>();
  readonly #jobDir: string;
  readonly #entry: string;
  #timer: NodeJS.Timeout;
  #closeWatcher = (): void => undefined;
  #looking: Promise<void> | undefined;

  constructor(jobDir: string, entry: string) {
    this.#jobDir = jobDir;
    this.#entry = entry;
    this.#timer = setInterval(() => void this.look(), WAIT_POLL_MS);
    try {
      // The supervisor touches its record when it has published the end.
      const watcher = watch(fileOf(jobDir, 'pid'), () => void this.look()).on('error', () => {
        watcher.close();
        this.#goOnBlindly();
      });
      this.#closeWatcher = () => watcher.close();
    } catch {
      // No watcher to be had, or no such file: the timer is what is left.
      this.#goOnBlindly();
    }
  }

  #goOnBlindly(): void {
    if (this.isOver()) return;
    clearInterval(this.#timer);
    const everyMs = Math.min(WAIT_POLL_MS, Math.max(BLIND_POLL_MS, watches.size * BLIND_MS_PER_JOB));
    this.#timer = setInterval(() => void this.look(), everyMs);
  }

  /** Looks once for all who ask at the same time. */
  look(): Promise<void> {
    this.#looking ??= settle(this.#jobDir, this.#entry)
      .then(
        (state) => {
          this.state = state;
        },
        (error: unknown) => {
          this.error = error ?? new Error('settle failed');
        },
      )
      .finally(() => {
        this.#looking = undefined;
        if (!this.isOver()) return;
        this.close();
        for (const listener of [...this.listeners]) listener();
      });
    return this.#looking;
  }

  isOver(): boolean {
    return this.state !== 'running' || this.error !== undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closeWatcher();
  }
}

const watches = new Map<string, JobWatch>();

/** A wait's share in the watch over one job. */
export interface Watching {
  /** Throws what looking threw. */
  state(): JobState;
  end(): void;
}

/**
 * The state of a job now, and from then on: `onSettled` is called once it runs no longer. A settled job costs nothing
 * further. Every watching must be ended.
 */
export async function watchJob(jobDir: string, entry: string, onSettled: () => void): Promise<Watching> {
  const existing = watches.get(jobDir);
  const watched = existing ?? new JobWatch(jobDir, entry);
  if (!existing) watches.set(jobDir, watched);
  watched.listeners.add(onSettled);
  await watched.look();
  const end = (): void => {
    watched.listeners.delete(onSettled);
    if (watched.listeners.size > 0) return;
    watched.close();
    if (watches.get(jobDir) === watched) watches.delete(jobDir);
  };
  return {
    state: () => {
      if (watched.error !== undefined) throw watched.error;
      return watched.state;
    },
    end,
  };
}
