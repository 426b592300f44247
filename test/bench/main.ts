/** `npm run bench`: docs/performance.md says what is compared with what. */
import { interrupted } from './interruption.ts';
import { runComparison } from './run-comparison.ts';
import { runScale } from './run-scale.ts';

const flag = (name: string): string | undefined =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

const out = flag('out');
try {
  if (process.argv.includes('--scale')) await runScale({ most: Number(flag('most') ?? 1000), out });
  else await runComparison({ rounds: Number(flag('rounds') ?? 25), out });
} catch (error) {
  if (!interrupted.aborted) throw error;
  // Whatever was under way then has failed for that, in words of its own.
  console.error(String(interrupted.reason));
  process.exitCode = 130;
}
