/** What a key does to the view. No terminal, no clock, no jobs beyond those that are shown. */
import { type RosterJob, wentWrong } from '../../index.ts';

export const GROUPS = ['all', 'running', 'not done', 'done'] as const;
export type Group = (typeof GROUPS)[number];

export interface ViewState {
  /** The directory of the chosen job; undefined for the first one. */
  readonly chosen: string | undefined;
  readonly group: Group;
  readonly text: string;
  /** `typing`: keys go into the filter's text. `asking`: whether the chosen job is to be reaped. */
  readonly mode: 'looking' | 'typing' | 'asking' | 'help';
  readonly message: string;
}

export const BEGIN: ViewState = { chosen: undefined, group: 'all', text: '', mode: 'looking', message: '' };

/** Stays until it is over; other messages go by themselves. */
export const REAPING = 'Reaping…';

export interface Press {
  /** What was typed; empty for a key without a character. */
  readonly input: string;
  readonly key?: 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end' | 'enter' | 'escape' | 'backspace';
}

export type Effect = { readonly kind: 'quit' } | { readonly kind: 'reap'; readonly jobDir: string };

/** Whether not all jobs may be shown. */
export function isNarrowed({ group, text }: ViewState): boolean {
  return group !== 'all' || text !== '';
}

/** The jobs that the filter lets through. */
export function shownOf(jobs: readonly RosterJob[], { group, text }: ViewState): readonly RosterJob[] {
  const wanted = text.toLowerCase();
  return jobs.filter((job) => {
    const inGroup = group === 'all' || (group === 'not done' ? wentWrong(job.state) : job.state === group);
    const said = `${job.label ?? ''} ${job.job_id} ${job.skill ?? ''} ${job.run_id ?? ''} ${job.state}`;
    return inGroup && said.toLowerCase().includes(wanted);
  });
}

/** Where the chosen job stands; the first one where it is not shown any more. */
export function indexOf(shown: readonly RosterJob[], { chosen }: ViewState): number {
  return Math.max(
    0,
    shown.findIndex((job) => job.job_dir === chosen),
  );
}

/** `page`: how many jobs are seen at once. */
export function press(
  state: ViewState,
  pressed: Press,
  shown: readonly RosterJob[],
  page: number,
): { state: ViewState; effect?: Effect } {
  switch (state.mode) {
    case 'typing':
      return { state: typed(state, pressed) };
    case 'asking':
      return answered(state, pressed);
    case 'help':
      return { state: { ...state, mode: 'looking' } };
    case 'looking':
      return looked({ ...state, message: '' }, pressed, shown, page);
  }
}

function typed(state: ViewState, { input, key }: Press): ViewState {
  if (key === 'enter') return { ...state, mode: 'looking' };
  if (key === 'escape') return { ...state, mode: 'looking', text: '' };
  if (key === 'backspace') return { ...state, text: [...state.text].slice(0, -1).join('') };
  return key === undefined ? { ...state, text: state.text + input } : state;
}

/** Anything but a plain yes is a no. */
function answered(state: ViewState, { input }: Press): { state: ViewState; effect?: Effect } {
  const after: ViewState = { ...state, mode: 'looking' };
  if (input !== 'y' || state.chosen === undefined) return { state: { ...after, message: 'Not reaped.' } };
  return { state: { ...after, message: REAPING }, effect: { kind: 'reap', jobDir: state.chosen } };
}

function looked(
  state: ViewState,
  { input, key }: Press,
  shown: readonly RosterJob[],
  page: number,
): { state: ViewState; effect?: Effect } {
  const at = indexOf(shown, state);
  const go = (to: number) => ({
    state: { ...state, chosen: shown[Math.min(Math.max(0, to), shown.length - 1)]?.job_dir },
  });
  if (key === 'up' || input === 'k') return go(at - 1);
  if (key === 'down' || input === 'j') return go(at + 1);
  if (key === 'page-up') return go(at - page);
  if (key === 'page-down') return go(at + page);
  if (key === 'home' || input === 'g') return go(0);
  if (key === 'end' || input === 'G') return go(shown.length - 1);
  if (key === 'escape') return { state: { ...state, group: 'all', text: '' } };
  switch (input) {
    case 'q':
      return { state, effect: { kind: 'quit' } };
    case '/':
      return { state: { ...state, mode: 'typing' } };
    case 's':
      return {
        state: { ...state, group: GROUPS[(GROUPS.indexOf(state.group) + 1) % GROUPS.length] ?? 'all' },
      };
    case '?':
      return { state: { ...state, mode: 'help' } };
    case 'r':
      return { state: askToReap(state, shown[at]) };
    default:
      return { state };
  }
}

/** The question is about one job, by its directory: the list may move while it is asked. */
function askToReap(state: ViewState, job: RosterJob | undefined): ViewState {
  if (!job) return state;
  if (job.state !== 'running') return { ...state, message: `Not running: it is ${job.state}.` };
  return { ...state, chosen: job.job_dir, mode: 'asking' };
}
