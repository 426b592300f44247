import { closeSync, constants, fstatSync, ftruncateSync, openSync, watch } from 'node:fs';
import { platform } from '../platform/index.ts';
import { monotonicAt, monotonicMs } from './clock.ts';

/** A fast disk takes about this much a millisecond: how soon a flood could use up the room that is left. */
const FLOOD_BYTES_PER_MS = 1_000_000;
const SHORTEST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 250;
/** Without a watcher (the system's limit is exhausted), a quiet log is looked at this often. */
const POLL_MS = 1000;
/**
 * NTFS tells of growth, by event or time stamp, only when the writer closes the file
 * (learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfiletime); its size is true at once.
 */
const tellsGrowth = platform.kind !== 'windows';
/** There the log is looked at this many times less often than under a flood: every 0.5 s when it is quiet. */
const UNTOLD_FACTOR = 2;

/** The worker's log as its supervisor sees it. */
export class LogFile {
  readonly #path: string;
  readonly #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#fd = openPlain(path);
  }

  /** Bytes, and when it last grew on the monotonic clock. A log that is not a plain file counts as empty. */
  measure(): { bytes: number; grewMs: number } {
    if (this.#fd === undefined) return { bytes: 0, grewMs: 0 };
    const { size, mtimeMs } = fstatSync(this.#fd);
    return { bytes: size, grewMs: tellsGrowth ? monotonicAt(mtimeMs) : monotonicMs() };
  }

  /** Cuts the file back to `maxBytes` if it is longer. */
  cut(maxBytes: number): void {
    if (this.#fd !== undefined && fstatSync(this.#fd).size > maxBytes) ftruncateSync(this.#fd, maxBytes);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  /**
   * Calls `look` soon after the log changed, and not at all while it is quiet. Under a flood that is as often as the
   * room that `look` says is left (bytes) demands, never once a write. Returns what ends the watch.
   */
  watch(look: () => number): () => void {
    let ended = false;
    let disarm = (): void => undefined;
    const lookAgain = (afterMs: number): void => {
      const timer = setTimeout(() => {
        arm();
        // Looked at after arming: what grew in between raised no event.
        const room = look();
        nextMs = Math.min(Math.max(room / FLOOD_BYTES_PER_MS, SHORTEST_LOOK_MS), LONGEST_LOOK_MS);
      }, afterMs);
      disarm = () => clearTimeout(timer);
    };
    let nextMs = SHORTEST_LOOK_MS;
    const changed = (afterMs: number): void => {
      disarm();
      if (!ended) lookAgain(afterMs);
    };
    const arm = (): void => {
      if (ended) return;
      try {
        const watcher = watch(this.#path, () => changed(nextMs));
        watcher.on('error', () => changed(POLL_MS));
        const poll = tellsGrowth ? undefined : setTimeout(() => changed(0), nextMs * UNTOLD_FACTOR);
        disarm = () => {
          clearTimeout(poll);
          watcher.close();
        };
      } catch {
        // No watcher to be had (ENOSPC, EMFILE) or no such path any more: look from time to time.
        lookAgain(POLL_MS);
      }
    };
    arm();
    return () => {
      ended = true;
      disarm();
    };
  }
}

function openPlain(path: string): number | undefined {
  // Not for appending: on Windows that alone would not allow to cut the file back.
  const flags = constants.O_WRONLY;
  try {
    const fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch {
    // Removed, or something else planted in its place: nothing to measure.
  }
  return undefined;
}
