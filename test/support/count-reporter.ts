import type { Reporter, SerializedError, TestModule, TestSuite, Vitest } from 'vitest/node';

/**
 * Ends a test run with one line, `N passed, N failed`, and `, N skipped` if any were.
 * A file that cannot be imported, a failing hook and an error outside any test each count as one failure;
 * so does a test that was begun and never reported.
 */
export class CountReporter implements Reporter {
  #watching = false;

  onInit(vitest: Vitest): void {
    this.#watching = vitest.config.watch;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const print = (): void => void process.stdout.write(`${countLine(modules, unhandled.length)}\n`);
    // The other reporters and vitest itself still have things to say; only the exit comes after all of them.
    if (this.#watching) print();
    else process.once('exit', print);
  }
}

function countLine(modules: readonly TestModule[], unhandledErrors: number): string {
  const count = { passed: 0, failed: unhandledErrors, skipped: 0, pending: 0 };
  for (const module of modules) {
    const suites: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
    count.failed += suites.filter((suite) => suite.errors().length > 0).length;
    for (const test of module.children.allTests()) count[test.result().state] += 1;
  }
  const line = `${count.passed} passed, ${count.failed + count.pending} failed`;
  return count.skipped > 0 ? `${line}, ${count.skipped} skipped` : line;
}
