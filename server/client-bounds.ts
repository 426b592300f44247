/** How long one call may wait, by the name that the client gives at `initialize`. */

/** As long as the job: more than any hard window is worth waiting for. */
const AS_LONG_AS_IT_TAKES_SECS = 2_000_000;

interface Bound {
  /** Where the client gave a progress token. */
  readonly withProgressSecs: number;
  readonly silentSecs: number;
}

/** Most clients give up on a call after 60 s. */
const UNKNOWN: Bound = { withProgressSecs: 45, silentSecs: 45 };

const BOUNDS: Readonly<Record<string, Bound>> = {
  /** Gives up after 30 min without a reply or progress; moves a long call to the background by itself. */
  'claude-code': { withProgressSecs: AS_LONG_AS_IT_TAKES_SECS, silentSecs: 25 * 60 },
  /** `tool_timeout_sec`, 300 s by default; progress does not extend it. */
  'codex-mcp-client': { withProgressSecs: 280, silentSecs: 280 },
};

export const MAX_WAIT_ENV = 'PEER_JOBS_MAX_WAIT_SECS';

/** The longest wait in seconds: the setting if it is a positive number, else what the client bears. */
export function longestWaitSecs(
  client: string,
  { env, progress }: { env: Readonly<Record<string, string | undefined>>; progress: boolean },
): number {
  const set = Number(env[MAX_WAIT_ENV]);
  if (set > 0 && set <= AS_LONG_AS_IT_TAKES_SECS) return set;
  const bound = Object.hasOwn(BOUNDS, client) ? (BOUNDS[client] ?? UNKNOWN) : UNKNOWN;
  return progress ? bound.withProgressSecs : bound.silentSecs;
}
