import type { useInput } from 'ink';
import { visible } from '../text.ts';
import type { Press } from './view-state.ts';

type Key = Parameters<Parameters<typeof useInput>[0]>[1];

/** Keys that came together are one input; what is pasted may hold anything. */
export function pressesOf(input: string, key: Key): Press[] {
  const names: readonly [boolean, NonNullable<Press['key']>][] = [
    [key.upArrow, 'up'],
    [key.downArrow, 'down'],
    [key.pageUp, 'page-up'],
    [key.pageDown, 'page-down'],
    [key.home, 'home'],
    [key.end, 'end'],
    [key.return, 'enter'],
    [key.escape, 'escape'],
    [key.backspace || key.delete, 'backspace'],
  ];
  const name = names.find(([is]) => is)?.[1];
  if (name) return [{ input: '', key: name }];
  if (key.ctrl || key.meta) return [];
  return [...input].flatMap((character): Press[] => {
    if (character === '\r' || character === '\n') return [{ input: '', key: 'enter' }];
    return visible(character) === character ? [{ input: character }] : [];
  });
}
