import type * as z from 'zod/mini';
import type { Environment } from '../store/roots.ts';

/** Who calls, and from where. Nothing else of the calling process matters to an operation. */
export interface Caller {
  readonly env: Environment;
  /** Absolute; relative paths are taken from here. */
  readonly cwd: string;
  /** The file that runs supervisors: the bundled CLI. */
  readonly entry: string;
  /** Skill and run of a start that names none. */
  readonly defaults?: { readonly skill: string; readonly runId: string };
  /** What kind of program called, for the record. */
  readonly client: string;
  /** Ends a wait early; no job is touched. */
  readonly signal?: AbortSignal | undefined;
  /** How long a wait lasts that names no time, and at most, in seconds: what the caller's own caller bears. */
  readonly wait?: { readonly defaultSecs: number; readonly maxSecs: number } | undefined;
  /** How much of an answer the caller's own caller shows uncut, in characters of JSON. */
  readonly answerChars?: number | undefined;
  /** Told how things stand while a wait goes on. */
  readonly onProgress?:
    | ((standing: { settled: number; total: number; message: () => string }) => void)
    | undefined;
}

/** How an operation behaves, in the words of MCP tool annotations. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** One thing that can be done with jobs. Tools, flags, help and tables are derived from it. */
export interface Operation<
  I extends z.ZodMiniObject = z.ZodMiniObject,
  O extends z.ZodMiniObject = z.ZodMiniObject,
> {
  /** The command: `start`. */
  readonly name: string;
  /** The tool: `start_job`. */
  readonly tool: string;
  readonly title: string;
  /** When to use it, when not, what to call next. */
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: Annotations;
  run(input: z.output<I>, caller: Caller): Promise<z.output<O>>;
}

/** Keeps the types of one operation's input and output together. */
export function defineOperation<I extends z.ZodMiniObject, O extends z.ZodMiniObject>(
  operation: Operation<I, O>,
): Operation<I, O> {
  return operation;
}

/** How long to wait, in seconds: as asked for, else as this caller waits, else `fallback`; never longer than it bears. */
export function waitSecs(asked: number | undefined, { wait }: Caller, fallback: number): number {
  return Math.min(asked ?? wait?.defaultSecs ?? fallback, wait?.maxSecs ?? Number.POSITIVE_INFINITY);
}
