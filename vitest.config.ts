import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { CountReporter } from './test/support/count-reporter.ts';
import { LongFirst } from './test/support/long-first.ts';
import { slurmMissing } from './test/support/slurm-programs.ts';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** Tests that start real processes: they wait more than they compute, so two at a time suit a two-core machine. */
const realProcesses = (name: string, ...others: readonly string[]) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`, ...others],
    // For a slow box: who waits names what is missing long before.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
  },
});

/** Tests on a Slurm cluster: its own, and files of other suites whose jobs then run there. */
function slurm() {
  const others = slurmMissing() ? [] : ['test/process/lifecycle.test.ts'];
  const { test, ...rest } = realProcesses('slurm', ...others);
  // They wait for Slurm more than for the processor.
  const atOnce = { maxWorkers: 4, sequence: { groupOrder: 3 } };
  return { ...rest, test: { ...test, ...atOnce, env: { PEER_JOBS_TEST_ENGINE: 'slurm' } } };
}

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  test: {
    passWithNoTests: true,
    reporters: ['default', new CountReporter()],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // Properties compute, and a slow box takes many times as long for them.
          testTimeout: 180_000,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      realProcesses('process'),
      realProcesses('faults'),
      realProcesses('differential'),
      realProcesses('mcp'),
      realProcesses('bench'),
      realProcesses('browser'),
      slurm(),
      {
        extends: true,
        test: {
          name: 'windows',
          // One file that runs a suite of its own, inside Wine: by itself, since that needs the whole machine.
          include: ['test/windows/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
