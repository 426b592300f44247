/** Jobs as the lines of a table that fits the terminal. */
import { type JobRow, lastLine } from '../../index.ts';
import { coloursFor, paintState } from '../colours.ts';
import { lastWords } from '../last-words.ts';
import { type Column, table } from '../table.ts';
import type { Screen } from '../terminal.ts';
import { duration, visibleLine } from '../text.ts';

const COLUMNS: readonly Column[] = [
  { title: 'JOB' },
  { title: 'LABEL', max: 20 },
  { title: 'STATE', max: 13 },
  { title: 'TIME', right: true },
  { title: 'IDLE', right: true },
  { title: 'LAST LINE' },
];
/** From this width on there is room for where a job belongs. */
const WIDE_COLUMNS = 120;

export function jobTable(rows: readonly JobRow[], screen: Screen): string[] {
  const colours = coloursFor(screen);
  const wide = screen.columns >= WIDE_COLUMNS;
  const columns = wide ? [...COLUMNS.slice(0, 2), { title: 'RUN', max: 28 }, ...COLUMNS.slice(2)] : COLUMNS;
  const stateAt = columns.findIndex(({ title }) => title === 'STATE');
  const cells = rows.map((row) => [
    visibleLine(row.job_id),
    visibleLine(row.label ?? '-'),
    ...(wide ? [visibleLine(`${row.skill ?? '?'}/${row.run_id ?? '?'}`)] : []),
    row.state,
    duration(row.elapsed_secs),
    row.idle_secs === null ? '' : duration(row.idle_secs),
    lastWords(row, row.state === 'unreadable' ? null : lastLine(row.job_dir)),
  ]);
  return table(columns, cells, {
    columns: screen.columns,
    paint: (text, { row, column }) => {
      const job = rows[row];
      if (!job) return colours.bold(text);
      if (column === stateAt) return paintState(colours, job.state, text);
      return column === columns.length - 1 ? colours.dim(text) : text;
    },
  });
}
