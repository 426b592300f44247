import { type Caller, RunnerError, workingDirectory } from '../lean.ts';
import type { Answer } from './render.ts';

/** This process as one who calls; `entry` is the file that it runs. */
export function callerOf(entry: string): Caller {
  return { env: process.env, cwd: workingDirectory(), entry, client: 'cli' };
}

/** Every expected failure is one line that says what to do. */
export function failure(error: unknown): Answer {
  if (error instanceof RunnerError) return { stdout: '', stderr: [error.message], exitCode: error.exitCode };
  const message = error instanceof Error ? error.message : String(error);
  const system = error instanceof Error && 'syscall' in error;
  return { stdout: '', stderr: [system ? message : `internal error: ${message}`], exitCode: 1 };
}
