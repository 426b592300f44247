/** The words of the `status` file, each final. */
export const TERMINAL_STATES = ['done', 'failed', 'timeout', 'died-without-result'] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

/** What a caller sees. `unreadable`: an ownership or sanity check failed, content withheld. */
export const JOB_STATES = [...TERMINAL_STATES, 'running', 'never-started', 'unreadable'] as const;
export type JobState = (typeof JOB_STATES)[number];

export function isTerminal(state: string): state is TerminalState {
  return TERMINAL_STATES.some((terminal) => terminal === state);
}

/** Neither done nor still on its way there: a person wants to know why. */
export function wentWrong(state: JobState): boolean {
  return state !== 'done' && state !== 'running';
}

/** How a job ended, before it is written down: its state and one line of detail. */
export interface Verdict {
  readonly state: TerminalState;
  readonly reason: string;
}
