import { RunnerError } from '../errors.ts';
import { findJob, shortRef } from '../store/find.ts';
import type { Caller } from './operation.ts';

export interface FoundJob {
  readonly ref: string;
  readonly jobDir: string;
}

/** The jobs that the references name, each once, and the references that name none. */
export function findJobs(
  refs: readonly string[],
  caller: Caller,
  skill: string | undefined,
): { found: FoundJob[]; unknown: { ref: string; problem: string }[] } {
  const found = new Map<string, FoundJob>();
  const unknown: { ref: string; problem: string }[] = [];
  for (const ref of new Set(refs)) {
    try {
      const jobDir = findJob(ref, { env: caller.env, cwd: caller.cwd, skill });
      if (!found.has(jobDir)) found.set(jobDir, { ref, jobDir });
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
      unknown.push({ ref: shortRef(ref), problem: error.message });
    }
  }
  return { found: [...found.values()], unknown };
}
