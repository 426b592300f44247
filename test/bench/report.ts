import { FLOOR, MEASURES } from './compare.ts';
import { brief, quantile, type Samples } from './figures.ts';
import { describeMachine, type Machine } from './machine.ts';

const MCP = 'peer-jobs over MCP';
const CLI = 'peer-jobs on the command line';
const REFERENCE = 'reference';
const SPOOLER = 'task-spooler';
/** The bare starts of the interpreters. */
export const NODE = 'node -e 0';
export const PYTHON = 'python3 -c 0';
/** In the order of the tables and plots. */
export const WHO = [MCP, CLI, REFERENCE, SPOOLER];

/** What has to hold: a median as a multiple of another's, at most. */
interface Bound {
  readonly measure: (typeof MEASURES)[number];
  readonly who: string;
  readonly against: string;
  readonly most: number;
}

const BOUNDS: readonly Bound[] = [
  { measure: 'start', who: MCP, against: SPOOLER, most: 3 },
  { measure: 'start', who: MCP, against: REFERENCE, most: 0.15 },
  { measure: 'exit to news', who: MCP, against: SPOOLER, most: 5 },
  { measure: 'exit to news', who: MCP, against: REFERENCE, most: 0.02 },
  { measure: 'status', who: MCP, against: SPOOLER, most: 0.5 },
  { measure: 'start', who: CLI, against: REFERENCE, most: 1 },
  { measure: 'status', who: CLI, against: REFERENCE, most: 1 },
];

/** The supervisor is a second start of Node; the reference forks. */
const STARTS_OF_NODE = { start: 2, status: 1 } as const;

/** What the command lines take besides the starts of their interpreters, in ms. Python's is one in every call. */
export function besidesInterpreters(
  samples: Samples,
): { measure: keyof typeof STARTS_OF_NODE; ours: number; reference: number; ratio: number }[] {
  const node = samples.median(FLOOR, NODE);
  const python = samples.median(FLOOR, PYTHON);
  return (['start', 'status'] as const).map((measure) => {
    const ours = samples.median(measure, CLI) - STARTS_OF_NODE[measure] * node;
    const reference = samples.median(measure, REFERENCE) - python;
    return { measure, ours, reference, ratio: Number((ours / reference).toFixed(4)) };
  });
}

/** Each bound with the ratio that was found. */
export function judged(samples: Samples): (Bound & { ratio: number; holds: boolean })[] {
  return BOUNDS.map((bound) => {
    const ratio = samples.median(bound.measure, bound.who) / samples.median(bound.measure, bound.against);
    return { ...bound, ratio: Number(ratio.toFixed(4)), holds: ratio <= bound.most };
  });
}

/** Medians, with the middle half of the samples; then the bounds. */
export function comparisonTable(samples: Samples, machine: Machine, rounds: number): string {
  const present = WHO.filter((who) => samples.of('start', who).length > 0);
  const cell = (measure: string, who: string): string => {
    const values = samples.of(measure, who);
    if (values.length === 0) return '–';
    const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => brief(quantile(values, part)));
    return `**${middle}** (${low}–${high})`;
  };
  const floors = Object.keys(samples.toJSON()[FLOOR] ?? {});
  return `${[
    `Milliseconds: median of ${rounds}, and the middle half. ${describeMachine(machine)}.`,
    '',
    `| | ${present.join(' | ')} |`,
    `| --- |${present.map(() => ' ---: |').join('')}`,
    ...MEASURES.map((measure) => `| ${measure} | ${present.map((who) => cell(measure, who)).join(' | ')} |`),
    '',
    `A bare start of a process on the same machine: ${floors.map((name) => `\`${name}\` ${brief(samples.median(FLOOR, name))}`).join(', ')}.`,
    '',
    '| bound | ratio | at most | |',
    '| --- | ---: | ---: | --- |',
    ...judged(samples).map(
      ({ measure, who, against, most, ratio, holds }) =>
        `| ${measure}: ${who} / ${against} | ${brief(ratio)} | ${most} | ${Number.isNaN(ratio) ? 'not measured' : holds ? 'holds' : 'missed'} |`,
    ),
    '',
    `The command lines besides the starts of their interpreters (\`${NODE}\` twice in a start, once in a status; \`${PYTHON}\` once):`,
    '',
    '| | peer-jobs | reference | ratio |',
    '| --- | ---: | ---: | ---: |',
    ...besidesInterpreters(samples).map(
      ({ measure, ours, reference, ratio }) =>
        `| ${measure} | ${brief(ours)} | ${brief(reference)} | ${brief(ratio)} |`,
    ),
  ].join('\n')}\n`;
}
