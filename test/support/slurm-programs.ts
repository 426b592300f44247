/** Whether this machine has Slurm. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian puts the services where only root's PATH looks. */
export const PATH = [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter);
const PROGRAMS = ['munged', 'slurmctld', 'slurmd', 'sbatch', 'squeue', 'scancel', 'scontrol', 'sinfo'];

/** Why there can be no cluster here, or undefined where there can. */
export function slurmMissing(): string | undefined {
  if (process.platform !== 'linux') return 'Slurm’s services run on Linux alone';
  const missing = PROGRAMS.filter((program) => !onPath(program));
  if (missing.length === 0) return undefined;
  return `no ${missing.join(', ')} on this machine (apt-get install slurmctld slurmd slurm-client munge)`;
}

function onPath(program: string): boolean {
  return PATH.split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return dir !== '';
    } catch {
      return false;
    }
  });
}
