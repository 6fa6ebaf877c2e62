import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const screenshots = join(import.meta.dirname, 'screenshots');

/** A page narrow as a phone, and one as wide as a laptop's. */
export const widths = { narrow: 400, wide: 1280 } as const;

export interface OpenOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  /** What the page's console may complain of: what the test itself brings about. */
  readonly mayComplain?: RegExp;
}

/** A real browser for the tests of a file; where there is none they are skipped, but not where everything must be tested. */
export function describeInBrowser(name: string, tests: (browser: TestBrowser) => void): void {
  const isThere = existsSync(executablePath);
  if (!isThere && process.env.CI === 'true') {
    throw new Error(`${executablePath} is missing: apt-get install chromium, or say where it is with CHROMIUM`);
  }
  const title = isThere ? name : `${name} (skipped: no ${executablePath}; install chromium, or set CHROMIUM)`;
  describe.skipIf(!isThere)(title, () => {
    const browser = new TestBrowser();
    beforeAll(() => browser.start());
    afterAll(() => browser.stop());
    tests(browser);
  });
}

export class TestBrowser {
  #browser: Browser | undefined;

  async start(): Promise<void> {
    mkdirSync(screenshots, { recursive: true });
    // As root, in a container, Chromium's own sandbox cannot be set up.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    this.#browser = await chromium.launch({ executablePath, args });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
  }

  /** A window of its own, closed with the test, which fails when the page's console says that something went wrong. */
  async open(url: string, { scheme = 'light', width = widths.wide, mayComplain }: OpenOptions = {}): Promise<Page> {
    const options: BrowserContextOptions = {
      colorScheme: scheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
      ignoreHTTPSErrors: true,
    };
    const context = await this.#browser!.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    onTestFinished(async () => {
      await context.close();
      expect(complaints.filter((text) => !mayComplain?.test(text))).toEqual([]);
    });
    await page.goto(url);
    return page;
  }
}

/** What breaks the rules of WCAG 2, level A and AA. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} })`,
  )) as axe.AxeResults;
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  );
}

/** How far the page reaches beyond the right side of its window, in pixels. */
export async function overflow(page: Page): Promise<number> {
  const [content, window] = (await page.evaluate(
    '[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]',
  )) as [number, number];
  return content - window;
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}
