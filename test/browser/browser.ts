/** A real browser: Debian's Chromium, or the one that PEER_JOBS_CHROMIUM names. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CANDIDATES = [
  process.env.PEER_JOBS_CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const browserPath = CANDIDATES.find((path) => path !== '' && existsSync(path));
if (!browserPath) process.stderr.write('skipped: the page in a real browser: no Chromium on this machine\n');

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath ?? '',
    timeout: 120_000,
    // Its sandbox needs what a container seldom gives; the page under test comes from us and reaches no network.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
