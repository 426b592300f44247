import { messageOf, RunnerError } from '../errors.ts';
import { jobIdOf } from '../store/job-dir.ts';
import { beginDetaching, detach, dismiss } from '../supervisor/detach.ts';
import { reapJob } from '../supervisor/reap.ts';
import { endUnacknowledged, isLive, settle } from '../supervisor/settle.ts';
import type { Engine } from './port.ts';

/** This machine: a supervisor that is nobody's child. */
export const local: Engine = {
  begin: async ({ entry, supervision }) => {
    // Its own start takes longer than everything else of a start, so it goes on meanwhile.
    const detaching = beginDetaching(entry);
    return {
      supervision,
      elsewhere: false,
      handOver: async ({ jobDir, argv, cwd, env, keyed }) => {
        try {
          await detach(detaching, entry, {
            mode: 'start',
            jobDir,
            argv: [...argv],
            cwd,
            env: Object.entries(env),
            keyed,
          });
        } catch (error) {
          // Whatever was begun is ended and recorded, so that nothing is left that nobody can reach.
          await endUnacknowledged(jobDir);
          throw new RunnerError(
            'system',
            `detach failed for job ${jobIdOf(jobDir)}: ${messageOf(error)}; nothing runs. Look into ${jobDir}, then start again`,
            { cause: error },
          );
        }
      },
      dismiss: () => dismiss(detaching),
    };
  },
  settle,
  reap: reapJob,
  isLive,
};
