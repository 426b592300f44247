import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Argv } from '../support/programs.ts';

/** A worker that does nothing until it is let through, and then exits 0 at once: a shell, reading from a FIFO. */
export class Gate {
  static #made = 0;
  readonly worker: Argv;
  readonly #fd: number;

  constructor(dir: string) {
    Gate.#made += 1;
    const path = join(dir, `gate-${process.pid}-${Gate.#made}`);
    execFileSync('mkfifo', [path]);
    // Open at both ends: neither the worker's open nor ours waits for the other.
    this.#fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    this.worker = ['/bin/sh', '-c', 'read go < "$1"', 'sh', path];
  }

  /** Lets the worker through; gives the moment (performance clock) just before. */
  open(): number {
    const now = performance.now();
    writeSync(this.#fd, '\n');
    return now;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
