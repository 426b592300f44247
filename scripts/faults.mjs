// Plays injected faults against the built programs: `npm run faults -- --seeds 500 --seed 1`.
// A failure names its seed; `--seeds 1 --seed N` plays it again. `--steps all` plays every fault at every step instead.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    steps: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
});

const usage =
  'usage: npm run faults -- [--seeds COUNT] [--seed FIRST] [--steps all] [moments|steps]\n' +
  '  moments  kills at random moments of a job\n' +
  '  steps    kills, stops and errors at single file-system steps (needs strace)';

if (values.help || ![values.seeds, values.seed].every((value) => /^\d+$/.test(value))) {
  console.error(usage);
  process.exit(values.help ? 0 : 2);
}
if (positionals.some((name) => name !== 'moments' && name !== 'steps')) {
  console.error(usage);
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
console.log(`${values.seeds} seeds from ${values.seed}`);
const files = positionals.map((name) => `test/faults/${name}`);
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--project', 'faults', ...files],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PEER_JOBS_FAULT_SEEDS: values.seeds,
      PEER_JOBS_FAULT_SEED: values.seed,
      ...(values.steps && { PEER_JOBS_FAULT_STEPS: values.steps }),
    },
  },
);
process.exit(status ?? 1);
