/** What a start may ask of Slurm. Nothing of it can be taken for an option of sbatch, or for more than one. */
import * as z from 'zod/mini';

/** Minutes are what Slurm counts in; ten years of them are beyond any partition. */
const MAX_SECS = 315_360_000;
const MAX_MEMORY_MB = 1_000_000_000;
const MAX_COUNT = 1_000_000;

/** One name, or several with commas between (sbatch(1), --partition). */
const PARTITIONS = /^[A-Za-z0-9_][\w.+-]*(,[A-Za-z0-9_][\w.+-]*)*$/;
/** Names of features with the operators that Slurm knows between them (sbatch(1), --constraint). */
const CONSTRAINT = /^[A-Za-z0-9_[(][\w.:=+*&|,()[\]-]*$/;
const MAX_TEXT = 256;

const whole = (max: number, description: string) =>
  z.optional(z.int().check(z.gt(0), z.lte(max), z.describe(description)));

export const slurmOptions = z.strictObject({
  partition: z.optional(
    z
      .string()
      .check(
        z.regex(PARTITIONS, 'must be names of partitions, with commas between'),
        z.maxLength(MAX_TEXT),
        z.describe('Slurm partition, or several with commas between.'),
      ),
  ),
  time_limit_secs: whole(
    MAX_SECS,
    'When Slurm ends the job, in whole minutes from there on up. Without it a little after the hard window.',
  ),
  memory_mb: whole(MAX_MEMORY_MB, 'Memory for the job on its node, in MiB.'),
  cpus: whole(MAX_COUNT, 'Processors for the job.'),
  gpus: whole(MAX_COUNT, 'GPUs for the job.'),
  constraint: z.optional(
    z
      .string()
      .check(
        z.regex(CONSTRAINT, 'must be features of nodes, joined as sbatch --constraint takes them'),
        z.maxLength(MAX_TEXT),
        z.describe('Features that the node must have, as sbatch --constraint takes them.'),
      ),
  ),
});
export type SlurmOptions = z.output<typeof slurmOptions>;
