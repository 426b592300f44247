import { type Report, type ReportRow, wentWrong } from '../../index.ts';
import { type Colours, coloursFor, paintState, SIGNS } from '../colours.ts';
import type { Screen } from '../terminal.ts';
import { cutTo, duration, visibleLine, visibleLines } from '../text.ts';

const TAIL_LINES = 5;

/** A report for a terminal or a pipe: how many ended how, then each job, with its last lines where it went wrong. */
export function renderReport(report: Report, screen: Screen | undefined): string {
  const colours = coloursFor(screen);
  const counts = Object.entries(SIGNS).flatMap(([state, sign]) => {
    const count = report.jobs.filter((job) => job.state === state).length;
    return count === 0 ? [] : [`${sign} ${count} ${state}`];
  });
  const head = report.jobs.length === 0 ? ['No jobs found.'] : [counts.join('  '), ''];
  const more = report.more ? ['', '(more: raise --limit)'] : [];
  return `${[...head, ...report.jobs.flatMap((job) => jobLines(job, screen, colours)), ...more].join('\n')}\n`;
}

function jobLines(job: ReportRow, screen: Screen | undefined, colours: Colours): string[] {
  const sign = paintState(colours, job.state, SIGNS[job.state]);
  const what = visibleLine(job.label ?? job.job_id);
  const reason = job.reason === '' ? '' : `: ${visibleLine(job.reason)}`;
  const after = job.elapsed_secs === null ? '' : ` after ${duration(job.elapsed_secs)}`;
  const line = `${what}  ${job.state}${after}${reason}`;
  const tail = wentWrong(job.state) ? visibleLines(job.log_tail ?? '').slice(-TAIL_LINES) : [];
  const cut = (text: string, indent: number): string =>
    screen ? cutTo(text, screen.columns - indent) : text;
  return [`${sign} ${cut(line, 2)}`, ...tail.map((text) => `    ${colours.dim(cut(text, 4))}`)];
}
