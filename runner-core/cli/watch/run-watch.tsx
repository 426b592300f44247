import { render } from 'ink';
import { type Caller, forPeople, type JobFilter, reap } from '../../index.ts';
import { standardOutput } from '../terminal.ts';
import { visibleLine } from '../text.ts';
import { View } from './view.tsx';

/** The other screen of the terminal (xterm's private mode 1049), so that what was there comes back. */
const OTHER_SCREEN = '\u001b[?1049h\u001b[H';
const FIRST_SCREEN = '\u001b[?1049l';

/** The full-screen view, until it is left. Jobs are only touched where a reap was asked for and confirmed. */
export async function runWatch(filter: JobFilter, caller: Caller): Promise<void> {
  const listeners = new Set<() => void>();
  const openRoster = await forPeople.openRoster();
  const roster = await openRoster(filter, caller, () => {
    for (const listener of listeners) listener();
  });
  const source = {
    rows: () => roster.rows(),
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    reap: async (jobDir: string) => {
      const { jobs } = await reap.run({ jobs: [jobDir] }, caller);
      await roster.refresh();
      const [job] = jobs;
      if (!job) return 'The job is gone.';
      const name = visibleLine(job.label ?? job.job_id);
      return (
        job.problem ?? (job.state === 'timeout' ? `Reaped ${name}.` : `${name} had ended: ${job.state}.`)
      );
    },
  };
  process.stdout.write(OTHER_SCREEN);
  try {
    const view = render(<View source={source} colours={standardOutput.screen()?.colours ?? false} />, {
      maxFps: 10,
      patchConsole: false,
    });
    await view.waitUntilExit();
  } finally {
    roster.close();
    process.stdout.write(FIRST_SCREEN);
  }
}
