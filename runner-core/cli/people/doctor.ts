import type { forPeople } from '../../index.ts';
import { coloursFor } from '../colours.ts';
import type { Screen } from '../terminal.ts';
import { visibleLine } from '../text.ts';

type Diagnosis = Awaited<ReturnType<Awaited<ReturnType<typeof forPeople.doctor>>['run']>>;

const SIGNS = { ok: '✓', note: '·', warning: '!', problem: '✗' } as const;

/** A line for each thing that was looked at, the remedy under whatever needs one. */
export function renderDoctor({ healthy, findings }: Diagnosis, screen: Screen | undefined): string {
  const colours = coloursFor(screen);
  const paint = {
    ok: colours.green,
    note: colours.dim,
    warning: colours.yellow,
    problem: colours.red,
  } as const;
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, verdict, detail, remedy }) => [
    `${paint[verdict](SIGNS[verdict])} ${check.padEnd(width)}  ${visibleLine(detail)}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  ${colours.bold('→')} ${visibleLine(remedy)}`]),
  ]);
  const count = (verdict: string): number => findings.filter((one) => one.verdict === verdict).length;
  const problems = count('problem');
  const warnings = count('warning');
  const sum = healthy
    ? `Nothing is wrong${warnings > 0 ? `; ${warnings} ${warnings === 1 ? 'thing works' : 'things work'} with less` : ''}.`
    : `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  return `${[...lines, '', sum].join('\n')}\n`;
}
