import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { CountReporter } from '../support/count-reporter.ts';

/** By command only: it fetches the real clients (some 800 MB) and takes minutes. */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/harness/**/*.test.ts'],
    globalSetup: ['test/harness/fetch-clients.ts'],
    testTimeout: 600_000,
    maxWorkers: 2,
    reporters: ['default', new CountReporter()],
  },
});
