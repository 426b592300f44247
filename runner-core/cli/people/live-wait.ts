import { type Caller, type JobRow, status, type wait } from '../../index.ts';
import type { Output, Screen } from '../terminal.ts';
import { jobTable } from './job-table.ts';

/** To the first column of the line so many above, and everything below it gone (ECMA-48 CPL and ED). */
const back = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}F\u001b[0J`);

/** `wait` for somebody who looks on: how each job stands, drawn anew every second, and gone when the wait is over. */
export async function liveWait(
  operation: typeof wait,
  input: Parameters<typeof wait.run>[0],
  { caller, output, screen }: { caller: Caller; output: Output; screen: Screen },
): Promise<Awaited<ReturnType<typeof wait.run>>> {
  let drawn = 0;
  let drawing = false;
  let over = false;
  const draw = async (): Promise<void> => {
    if (drawing) return;
    drawing = true;
    const { jobs } = await status.run({ jobs: input.jobs, skill: input.skill }, caller);
    drawing = false;
    if (over) return;
    const lines = shownIn(output.screen() ?? screen, jobs);
    output.write(`${back(drawn)}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  };
  const onProgress = (): void => {
    // The wait itself tells what went wrong.
    draw().catch(() => undefined);
  };
  try {
    return await operation.run(input, { ...caller, onProgress });
  } finally {
    over = true;
    output.write(back(drawn));
  }
}

/** The running ones first where not all fit. */
function shownIn(screen: Screen, jobs: readonly JobRow[]): string[] {
  const room = Math.max(1, screen.rows - 3);
  const order = [...jobs].sort((a, b) => Number(b.state === 'running') - Number(a.state === 'running'));
  const shown = (jobs.length > room ? order : jobs).slice(0, room);
  const more = jobs.length - shown.length;
  // One column stays free: a terminal that wraps at its last one would spoil the count of lines.
  const lines = jobTable(shown, { ...screen, columns: screen.columns - 1 });
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])];
}
