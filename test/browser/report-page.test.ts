import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { settled, start } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { browserPath, openBrowser } from './browser.ts';

const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desk: { width: 1440, height: 900 },
};

/** What a log may hold to harm whoever reads it in a browser, and what is hard to show. */
const HOSTILE = String.raw`printf '</pre></section></details><script>window.harmed=1</script><img src=x onerror="window.harmed=1"><svg onload="window.harmed=1">\n<a href="javascript:window.harmed=1">x</a> "\047 &lt; \033[31mred\033[0m \000 \342\200\256reversed\n日本語 한국어 漢字 👩‍👩‍👧‍👦\n'; head -c 5000000 /dev/zero | tr '\0' x; printf '\nthe end\n'; exit 1`;

describe.skipIf(!browserPath)('the page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  interface Seen {
    readonly page: Page;
    /** Whatever the browser complained of, and every request beyond the page itself. */
    readonly noise: string[];
  }

  async function open(temp: TempBase, options: Parameters<Browser['newPage']>[0] = {}): Promise<Seen> {
    const run = await temp.run('ours', ['report', '--html', 'page.html']);
    expect(run.code).toBe(0);
    const page = await browser.newPage({ viewport: SIZES.desk, ...options });
    const noise: string[] = [];
    page.on('console', (message) => noise.push(message.text()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => noise.push('dialog')));
    const url = pathToFileURL(temp.at('page.html')).href;
    page.on('request', (request) => request.url() === url || noise.push(request.url()));
    await page.goto(url);
    return { page, noise };
  }

  async function manyJobs(temp: TempBase): Promise<void> {
    const bad = await start(temp, sh(HOSTILE), { flags: ['--label', 'hostile'] });
    const good = await start(temp, sh('echo fine'), { flags: ['--label', 'good'] });
    const other = await start(temp, sh('echo other'), {
      flags: ['--label', 'other-and-its-label-is-far-too-long-for-a-narrow-screen-to-show'],
      run: 'r2',
    });
    await Promise.all([settled(bad), settled(good), settled(other)]);
  }

  /** Serious breaches of WCAG 2.2 AA, as axe sees them. */
  async function breaches(page: Page): Promise<string[]> {
    const found: unknown = await page.evaluate(`(async () => {
      const { violations } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' | '));
    })()`);
    return Array.isArray(found) ? found.map(String) : [];
  }

  test('no script of a log ever runs, and nothing is asked of a network', async ({ temp }) => {
    await manyJobs(temp);
    const { page, noise } = await open(temp);
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    for (const kind of [
      'script',
      'img',
      'iframe',
      'object',
      'a[href^="javascript"]',
      '[onerror]',
      '[onload]',
    ])
      expect(await page.locator(kind).count(), kind).toBe(0);
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(noise).toEqual([]);
    const text = await page.locator('details', { hasText: 'hostile' }).textContent();
    expect(text).toContain('the end');
    await page.close();
  });

  test('a script that was put into the page all the same is stopped by its policy', async ({ temp }) => {
    await manyJobs(temp);
    const { page, noise } = await open(temp);
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'window.harmed = 1';
      document.body.append(script);
      const image = document.createElement('img');
      image.setAttribute('onerror', 'window.harmed = 1');
      image.src = 'https://example.invalid/x.png';
      document.body.append(image);
    })()`);
    await eventually(() => noise.filter((text) => text.includes('Content Security Policy')).length >= 2);
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    await page.close();
  });

  for (const [name, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`${name}, ${colorScheme}: nothing overflows, and axe finds nothing`, async ({ temp }) => {
        await manyJobs(temp);
        const { page, noise } = await open(temp, { viewport, colorScheme, bypassCSP: true });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
        await page.addScriptTag({ content: axe.source });
        expect(await breaches(page)).toEqual([]);
        expect(noise).toEqual([]);
        await page.close();
      });
    }
  }

  test('of no jobs says so', async ({ temp }) => {
    const { page, noise } = await open(temp, { bypassCSP: true });
    expect(await page.locator('main').textContent()).toBe('No jobs found.');
    await page.addScriptTag({ content: axe.source });
    expect(await breaches(page)).toEqual([]);
    expect(noise).toEqual([]);
    await page.close();
  });

  test('can be used by keyboard alone', async ({ temp }) => {
    await manyJobs(temp);
    const { page } = await open(temp);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the details');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('id')).toBe('show-done');
    await page.keyboard.press('Space');
    expect(await page.locator('tbody tr:visible').allTextContents()).toEqual([
      expect.stringContaining('hostile'),
    ]);
    expect(await page.locator('details:visible').count()).toBe(1);
    await page.keyboard.press('Space');
    expect(await page.locator('tbody tr:visible').count()).toBe(3);
    const good = page.locator('details', { hasText: 'good' });
    await good.locator('summary').focus();
    await page.keyboard.press('Enter');
    await good.getByText('fine', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('End of the log of good');
    await page.close();
  });

  test('a link of the time line leads to the details of its job', async ({ temp }) => {
    await manyJobs(temp);
    const { page } = await open(temp, { viewport: SIZES.phone });
    await page.getByRole('list').first().getByRole('link').first().click();
    expect(await page.locator(':target').evaluate((element) => element.tagName)).toBe('DETAILS');
    await page.close();
  });

  test('is a table for a screen reader, also on a phone', async ({ temp }) => {
    await manyJobs(temp);
    const { page } = await open(temp, { viewport: SIZES.phone });
    const tree = await page.locator('main').ariaSnapshot();
    expect(tree).toMatch(/- table:/);
    expect(tree).toMatch(/columnheader "State"/);
    expect(tree).toMatch(/row ".*hostile.*failed.*worker exited 1"/);
    expect(tree).toMatch(/link "hostile : failed, after /);
    await page.close();
  });
});
