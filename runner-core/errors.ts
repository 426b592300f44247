/** The kinds of expected failure, and the exit code that each has on the command line. */
export const EXIT_CODES = {
  /** The call itself is malformed. */
  usage: 2,
  /** A name, number or path that cannot be used. */
  invalid: 1,
  /** No such job. */
  unknown: 1,
  /** The worker cannot be started; nothing was detached. */
  preflight: 1,
  /** The machine would not do it: disk, process or permission trouble. */
  system: 1,
  /** The answer is not there yet. */
  running: 2,
  /** The job ended without what was asked for. */
  absent: 3,
  /** An ownership or sanity check failed; content withheld. */
  refused: 4,
} as const;

export type FailureKind = keyof typeof EXIT_CODES;

/** An expected failure: `message` says what is wrong and, after it, what to do. Anything else thrown is a bug. */
export class RunnerError extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RunnerError';
    this.kind = kind;
  }

  get exitCode(): number {
    return EXIT_CODES[this.kind];
  }
}

/** The errno name of a failed system call (`ENOENT`), or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** One line of what went wrong, for a message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
