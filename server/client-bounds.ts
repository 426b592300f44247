/** What a client bears, by the name that it gives at `initialize`: how long a call may last, and how long an answer. */

/** As long as the job: more than any hard window is worth waiting for. */
const AS_LONG_AS_IT_TAKES_SECS = 2_000_000;

interface Bound {
  /** Where the client gave a progress token. */
  readonly withProgressSecs: number;
  readonly silentSecs: number;
  /** What it shows its model of one answer, in characters of JSON. */
  readonly answerChars: number;
}

/** Most clients give up on a call after 60 s. */
const UNKNOWN: Bound = { withProgressSecs: 45, silentSecs: 45, answerChars: 45_000 };

const BOUNDS: Readonly<Record<string, Bound>> = {
  /** Gives up after 30 min without a reply or progress; moves a long call to the background by itself. */
  'claude-code': { withProgressSecs: AS_LONG_AS_IT_TAKES_SECS, silentSecs: 25 * 60, answerChars: 45_000 },
  /**
   * `tool_timeout_sec`, 300 s by default; progress does not extend it. It cuts the middle out of an answer of more than
   * 12,000 bytes under a model that it does not know, 48,000 under one that it does.
   */
  'codex-mcp-client': { withProgressSecs: 280, silentSecs: 280, answerChars: 11_000 },
};

export const MAX_WAIT_ENV = 'PEER_JOBS_MAX_WAIT_SECS';

/** The longest wait in seconds: the setting if it is a positive number, else what the client bears. */
export function longestWaitSecs(
  client: string,
  { env, progress }: { env: Readonly<Record<string, string | undefined>>; progress: boolean },
): number {
  const set = Number(env[MAX_WAIT_ENV]);
  if (set > 0 && set <= AS_LONG_AS_IT_TAKES_SECS) return set;
  const bound = boundOf(client);
  return progress ? bound.withProgressSecs : bound.silentSecs;
}

/** How long an answer may be, in characters of JSON, before the client cuts it. */
export function longestAnswerChars(client: string): number {
  return boundOf(client).answerChars;
}

function boundOf(client: string): Bound {
  return (Object.hasOwn(BOUNDS, client) ? BOUNDS[client] : undefined) ?? UNKNOWN;
}
