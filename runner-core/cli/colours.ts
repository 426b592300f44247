import picocolors from 'picocolors';
import type { JobState } from '../index.ts';

export type Colours = ReturnType<typeof picocolors.createColors>;

export function coloursFor(screen: { readonly colours: boolean } | undefined): Colours {
  return picocolors.createColors(screen?.colours ?? false);
}

/** The state as everybody sees it: each has a sign of its own, so that colour is never the only difference. */
export const SIGNS: Readonly<Record<JobState, string>> = {
  done: '✓',
  failed: '✗',
  timeout: '◷',
  'died-without-result': '†',
  running: '▶',
  'never-started': '∅',
  unreadable: '?',
};

export const STATE_COLOURS: Readonly<Record<JobState, 'green' | 'cyan' | 'yellow' | 'red' | 'dim'>> = {
  done: 'green',
  running: 'cyan',
  timeout: 'yellow',
  failed: 'red',
  'died-without-result': 'red',
  unreadable: 'red',
  'never-started': 'dim',
};

export function paintState(colours: Colours, state: JobState, text: string): string {
  return colours[STATE_COLOURS[state]](text);
}
