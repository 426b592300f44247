import { type JobRow, wentWrong } from '../index.ts';
import { visibleLine } from './text.ts';

/** Why a job went wrong, if it did, and the last line of its log: one line, fit to be shown. */
export function lastWords({ state, reason }: JobRow, lastLine: string | null): string {
  return visibleLine([wentWrong(state) ? reason : '', lastLine ?? ''].filter(Boolean).join(': '));
}
