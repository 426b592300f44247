import { spawn } from 'node:child_process';
import type { Argv } from '../support/programs.ts';
import { interrupted } from './interruption.ts';

export interface ProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Runs a program from its spawn to the end of its output, and gives that output. Rejects unless it exits 0. `signal` ends it. */
export function runWhole(
  argv: Argv,
  { env, cwd }: ProcessOptions,
  signal: AbortSignal | undefined = interrupted,
): Promise<string> {
  const [file, ...args] = argv;
  return new Promise((resolve, reject) => {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(file, args, { env: { ...env }, cwd, stdio, ...(signal && { signal }) });
    let out = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(out.trim());
      else reject(new Error(`${argv.join(' ')} ended with ${code ?? signal}: ${complaint}`));
    });
  });
}
