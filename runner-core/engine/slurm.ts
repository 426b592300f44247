import { isTerminal } from '../job/state.ts';
import { recordedState } from '../store/job-dir.ts';
import type { Engine } from './port.ts';
import { reapJob } from './slurm-reap.ts';
import { look, settle } from './slurm-settle.ts';
import { begin } from './slurm-submit.ts';

/** A Slurm cluster that sees the job directory: our supervisor runs inside the Slurm job. */
export const slurm: Engine = {
  begin,
  settle: (jobDir) => settle(jobDir),
  reap: reapJob,
  isLive: async (jobDir) => !isTerminal(recordedState(jobDir)) && (await look(jobDir)).kind === 'alive',
};
