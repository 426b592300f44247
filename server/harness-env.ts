/**
 * What a worker does not inherit. A harness marks its own children with variables that make a nested one refuse to
 * start or attach to the wrong session, and some are session tokens. Configuration and credentials of the user's stay,
 * and a job that wants one of these names it in its `env`.
 */
const SESSION_VARIABLES: readonly RegExp[] = [
  // Claude Code
  /^CLAUDECODE$/,
  /^CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_.*|MESSAGING_.*|CHILD_.*|LAUNCHED_BY_.*|EXECPATH)$/,
  // Codex
  /^CODEX_(SANDBOX.*|THREAD_ID|SESSION_.*|INTERNAL_.*)$/,
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a variable belongs to the session of a harness. */
export function isSessionVariable(name: string): boolean {
  return SESSION_VARIABLES.some((pattern) => pattern.test(name));
}

/** The environment that workers inherit from a server. */
export function withoutSession(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSessionVariable(name)));
}
