/** A terminal of a given size with a program in it, by tmux. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { commandOf } from './programs.ts';
import type { TempBase } from './temp-base.ts';

/** Why there is no terminal to be had, or undefined where there is. */
export function terminalMissing(): string | undefined {
  const { error, status } = spawnSync('tmux', ['-V'], { stdio: 'ignore' });
  return error || status !== 0 ? 'no tmux on this machine, so nothing can be shown on a terminal' : undefined;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export class Terminal {
  readonly #socket: string;

  /** Runs our command line in a new terminal; what it prints stays to be seen. */
  constructor(
    temp: TempBase,
    { columns, rows }: Size,
    args: readonly string[],
    env: Record<string, string> = {},
  ) {
    this.#socket = join(temp.root, `tmux-${process.hrtime.bigint()}`);
    const variables = { ...temp.env, LANG: 'C.UTF-8', ...env };
    const command = [...commandOf('ours'), ...args]
      .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
      .join(' ');
    execFileSync(
      'tmux',
      [
        ...['-u', '-S', this.#socket, '-f', '/dev/null', 'new-session', '-d', '-s', 't'],
        ...['-x', String(columns), '-y', String(rows)],
        `${command}; printf 'LEFT %s' $?; exec sleep 600`,
      ],
      { env: variables, cwd: temp.scratch },
    );
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-u', '-S', this.#socket, ...args], { encoding: 'utf8' });
  }

  /** The lines that are seen, without blanks at their ends. */
  lines(): string[] {
    return this.#tmux('capture-pane', '-p', '-t', 't').replace(/\n$/, '').split('\n');
  }

  /** What is seen, with the sequences that colour it. */
  escaped(): string {
    return this.#tmux('capture-pane', '-e', '-p', '-t', 't');
  }

  text(): string {
    return this.lines().join('\n');
  }

  /** What is seen, once it is what was waited for. */
  async shows(what: RegExp | string, deadlineMs = 60_000): Promise<string> {
    return eventually(() => {
      const text = this.text();
      return (typeof what === 'string' ? text.includes(what) : what.test(text)) && text;
    }, deadlineMs);
  }

  /** Keys as tmux names them; text is sent as it is. */
  press(...keys: string[]): void {
    for (const key of keys) this.#tmux('send-keys', '-t', 't', key);
  }

  resize({ columns, rows }: Size): void {
    this.#tmux('resize-window', '-t', 't', '-x', String(columns), '-y', String(rows));
  }

  close(): void {
    this.#tmux('kill-server');
  }
}

/** Does something with a terminal, and closes it whatever comes of that. */
export async function inTerminal(
  temp: TempBase,
  options: { size?: Size; args: readonly string[]; env?: Record<string, string> },
  use: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = new Terminal(temp, options.size ?? { columns: 80, rows: 24 }, options.args, options.env);
  try {
    await use(terminal);
  } finally {
    terminal.close();
  }
}
