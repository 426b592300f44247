import * as z from 'zod/mini';
import { platform } from '../../platform/index.ts';

/** What a look at one thing says. `note`: nothing to do. `warning`: works, with less. `problem`: does not work. */
export const finding = z.object({
  check: z.string(),
  verdict: z.enum(['ok', 'note', 'warning', 'problem']),
  detail: z.string(),
  remedy: z.nullable(z.string()).check(z.describe('What to do about it; null where there is nothing to do.')),
});
export type Finding = z.infer<typeof finding>;

export function ok(check: string, detail: string): Finding {
  return { check, verdict: 'ok', detail, remedy: null };
}

export function note(check: string, detail: string, remedy: string | null = null): Finding {
  return { check, verdict: 'note', detail, remedy };
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, verdict: 'warning', detail, remedy };
}

export function problem(check: string, detail: string, remedy: string): Finding {
  return { check, verdict: 'problem', detail, remedy };
}

/** A remedy is of no use in the words of another system's shell. */
export function inWordsOf(words: { posix: string; windows: string }): string {
  return words[platform.kind];
}
