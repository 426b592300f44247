/** The tests of this suite: collected from all files, then run a few at a time by node:test, inside Windows. */
import { test } from 'node:test';
import { openTempBase, type TempBase } from './temp-base.ts';

interface Scenario {
  readonly name: string;
  readonly run: (temp: TempBase) => Promise<void>;
  readonly skip: string | undefined;
}

const scenarios: Scenario[] = [];

/** Waits within are bounded too; this is for a machine with many times its work. */
const TIMEOUT_MS = 900_000;

/** One test that owns a temp base, and fails if it leaves a process behind. `skip`: why it cannot be run here. */
export function scenario(name: string, run: Scenario['run'], skip?: string): void {
  scenarios.push({ name, run, skip });
}

/** Runs all scenarios whose name contains `filter`. */
export function runScenarios(filter: string, concurrency: number): void {
  test('windows', { concurrency }, async (context) => {
    const chosen = scenarios.filter(({ name }) => name.includes(filter));
    await Promise.all(
      chosen.map(({ name, run, skip }) =>
        context.test(name, { timeout: TIMEOUT_MS, ...(skip === undefined ? {} : { skip }) }, async () => {
          const temp = openTempBase();
          // What the test found matters more than what it left behind because of it.
          const found = await run(temp).then(
            () => undefined,
            (error: unknown) => ({ error }),
          );
          await temp.close().catch((error: unknown) => {
            if (!found) throw error;
          });
          if (found) throw found.error;
        }),
      ),
    );
  });
}
