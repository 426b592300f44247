/** One service of a test's cluster, kept in the foreground: a child of the test, known by its pid for all its life. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Argv } from './programs.ts';

export class Daemon {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #what: string;
  readonly #log: string;

  /** `log`: where what it prints goes. */
  constructor([program, ...args]: Argv, env: Readonly<Record<string, string>>, log: string) {
    const out = openSync(log, 'a');
    this.#what = [program, ...args].join(' ');
    this.#log = log;
    this.#child = spawn(program, args, { env, stdio: ['ignore', out, out], cwd: '/' });
    closeSync(out);
    this.#exited = Promise.race([
      once(this.#child, 'exit'),
      once(this.#child, 'error').then(() => undefined),
    ]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Throws if it has ended by itself, with the end of its log. */
  expectRunning(): void {
    if (this.running) return;
    const tail = readFileSync(this.#log, 'utf8').split('\n').slice(-15).join('\n');
    throw new Error(`${this.#what} ended with ${this.#child.exitCode ?? this.#child.signalCode}:\n${tail}`);
  }

  /** Ends it and waits until it has; with TERM, it gets ten seconds for that. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    this.#child.kill(signal);
    const hard = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#exited;
    clearTimeout(hard);
  }
}
