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

export function paintState(colours: Colours, state: JobState, text: string): string {
  switch (state) {
    case 'done':
      return colours.green(text);
    case 'running':
      return colours.cyan(text);
    case 'timeout':
      return colours.yellow(text);
    case 'never-started':
      return colours.dim(text);
    case 'failed':
    case 'died-without-result':
    case 'unreadable':
      return colours.red(text);
  }
}
