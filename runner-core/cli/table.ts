import { columnsOf, cutTo, padTo } from './text.ts';

export interface Column {
  readonly title: string;
  /** Never wider; its natural width otherwise. */
  readonly max?: number;
  /** For numbers. */
  readonly right?: boolean;
}

/** What puts colours around a cell that has its final width. */
export type Paint = (text: string, cell: { readonly row: number; readonly column: number }) => string;

const GAP = '  ';

/**
 * Lines of a table with a head. In `columns` columns the last column gets what the others leave; without a limit every
 * cell is shown whole.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { readonly columns: number | undefined; readonly paint?: Paint },
): string[] {
  const last = columns.length - 1;
  const widths = columns.map(({ title, max = Number.POSITIVE_INFINITY }, at) => {
    const natural = Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[at] ?? '')));
    return options.columns === undefined ? natural : Math.min(natural, max);
  });
  if (options.columns !== undefined) {
    const others = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
    widths[last] = Math.max(0, options.columns - others);
  }
  const line = (cells: readonly string[], row: number): string => {
    const drawn = columns.map(({ right }, at) => {
      const width = widths[at] ?? 0;
      const cell = cells[at] ?? '';
      const text = at === last && !right ? cutTo(cell, width) : padTo(cell, width);
      const aligned = right ? text.trimEnd().padStart(text.length) : text;
      return options.paint ? options.paint(aligned, { row, column: at }) : aligned;
    });
    return drawn.join(GAP).trimEnd();
  };
  return [
    line(
      columns.map(({ title }) => title),
      -1,
    ),
    ...rows.map(line),
  ];
}
