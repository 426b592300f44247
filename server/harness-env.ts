/**
 * What a worker does not inherit. A harness marks its own children with variables that make a nested one refuse to
 * start or attach to the wrong session, and some are session tokens. Configuration and credentials of the user's stay,
 * and a job that wants one of these names it in its `env`.
 */
export const SESSION_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'Claude Code': [
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_CODE_EXECPATH',
    'CLAUDE_CODE_SESSION_*',
    'CLAUDE_CODE_MESSAGING_*',
    'CLAUDE_CODE_CHILD_*',
    'CLAUDE_CODE_LAUNCHED_BY_*',
  ],
  Codex: ['CODEX_THREAD_ID', 'CODEX_SANDBOX*', 'CODEX_SESSION_*', 'CODEX_INTERNAL_*'],
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a variable belongs to the session of a harness. */
export function isSessionVariable(name: string): boolean {
  return Object.values(SESSION_VARIABLES)
    .flat()
    .some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/** The environment that workers inherit from a server. */
export function withoutSession(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSessionVariable(name)));
}
