/** Small plots without a library, readable on light and on dark pages. */
import { MEASURES } from './compare.ts';
import { brief, median, quantile, type Samples } from './figures.ts';
import { WHO } from './report.ts';
import type { ScaleFigures } from './run-scale.ts';
import { CALLS } from './scale-report.ts';

const WIDTH = 760;
const LEFT = 200;
const RIGHT = 60;
const ROW = 22;
const COLOURS = ['#0b7a75', '#7aa095', '#c1666b', '#d4a373'];
const INK = '#6b7280';

interface Axis {
  readonly from: number;
  readonly to: number;
  at(value: number): number;
}

/** A logarithmic axis over `values`, from one power of ten to another. */
function axisOver(values: readonly number[], fromPx: number, toPx: number): Axis {
  const from = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const to = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  const part = (value: number): number => Math.log10(value / from) / Math.log10(to / from);
  return { from, to, at: (value) => fromPx + part(value) * (toPx - fromPx) };
}

function powersOfTen({ from, to }: Axis): number[] {
  const count = Math.round(Math.log10(to / from));
  return Array.from({ length: count + 1 }, (_, index) => from * 10 ** index);
}

const text = (x: number, y: number, words: string, anchor = 'start', colour = INK): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${words}</text>`;

function page(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

/** A bar for each contender under each measure, as long as its median, with the middle half on it. */
export function comparisonPlot(samples: Samples): string {
  const rows = MEASURES.flatMap((measure) =>
    WHO.map((who) => ({ measure, who, values: samples.of(measure, who) })),
  ).filter(({ values }) => values.length > 0);
  const axis = axisOver(
    rows.map(({ values }) => median(values)),
    LEFT,
    WIDTH - RIGHT,
  );
  const parts: string[] = [];
  let y = 8;
  for (const measure of MEASURES) {
    parts.push(text(0, y + 14, measure));
    y += ROW;
    for (const { who, values } of rows.filter((row) => row.measure === measure)) {
      const colour = COLOURS[WHO.indexOf(who)] ?? INK;
      const end = axis.at(median(values));
      const [low = end, high = end] = [0.25, 0.75].map((part) => axis.at(quantile(values, part)));
      parts.push(
        text(LEFT - 8, y + 13, who, 'end'),
        `<rect x="${LEFT}" y="${y + 2}" width="${(end - LEFT).toFixed(1)}" height="${ROW - 8}" fill="${colour}"/>`,
        `<line x1="${low.toFixed(1)}" x2="${high.toFixed(1)}" y1="${y + 9}" y2="${y + 9}" stroke="${INK}"/>`,
        text(Math.max(end, high) + 6, y + 13, `${brief(median(values))} ms`),
      );
      y += ROW;
    }
    y += 6;
  }
  const ticks = powersOfTen(axis).flatMap((value) => [
    `<line x1="${axis.at(value).toFixed(1)}" x2="${axis.at(value).toFixed(1)}" y1="4" y2="${y}" stroke="${INK}" stroke-opacity="0.25"/>`,
    text(axis.at(value), y + 14, `${value}`, 'middle'),
  ]);
  return page(y + 20, 'Milliseconds, logarithmic: median and middle half', [...ticks, ...parts]);
}

/** A line for each call over the rungs. */
export function scalePlot({ rungs, samples }: ScaleFigures): string {
  const height = 300;
  const medians = CALLS.map((call) => rungs.map((rung) => samples.median(call, rung)));
  const axis = axisOver(medians.flat(), height - 40, 16);
  const x = (index: number): number => 60 + (index * (WIDTH - 60 - LEFT)) / Math.max(1, rungs.length - 1);
  const grid = powersOfTen(axis).flatMap((value) => [
    `<line x1="60" x2="${WIDTH - LEFT}" y1="${axis.at(value).toFixed(1)}" y2="${axis.at(value).toFixed(1)}" stroke="${INK}" stroke-opacity="0.25"/>`,
    text(52, axis.at(value) + 4, `${value}`, 'end'),
  ]);
  const lines = CALLS.map((call, row) => {
    const points = (medians[row] ?? []).map(
      (value, at) => `${x(at).toFixed(1)},${axis.at(value).toFixed(1)}`,
    );
    const last = medians[row]?.at(-1) ?? axis.from;
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS[row] ?? INK}" stroke-width="2"/>`,
      text(WIDTH - LEFT + 8, axis.at(last) + 4, `${call}, ${brief(last)} ms`, 'start', COLOURS[row] ?? INK),
    ].join('\n');
  });
  const names = rungs.map((rung, at) => text(x(at), height - 18, rung, 'middle'));
  return page(height, 'Milliseconds a call, logarithmic, by the number of jobs alive', [
    ...grid,
    ...lines,
    ...names,
    text(60, height - 2, 'jobs alive'),
  ]);
}
