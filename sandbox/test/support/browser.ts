import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../../test/support/shared.ts';
import { findChromium } from './chromium.ts';

const pictures = join(import.meta.dirname, '..', '..', '..', 'test', 'screenshots');
/** Long enough for a loaded machine, and shorter than a test may take, so that a failure names what was waited for. */
const TIMEOUT_MS = 60_000;

/**
 * A `describe` for what needs a browser. Where there is none, its one test is skipped and says why; with `CI=true`
 * it fails instead.
 */
export function describeInBrowser(name: string, define: () => void): void {
  if (findChromium() !== undefined) {
    describe(name, define);
    return;
  }
  const reason = 'no Chromium was found; install Debian’s chromium or set CHROMIUM_PATH';
  process.stderr.write(`${name}: not run, for ${reason}\n`);
  describe(name, () => {
    it(`needs a browser: ${reason}`, (context) => {
      if (process.env.CI === 'true') throw new Error(reason);
      context.skip(reason);
    });
  });
}

export type BrowserHandle = ReturnType<typeof useBrowser>;

let browser: Promise<Browser> | undefined;

/** The run's Chromium as this worker has it: what it opens there ends with the worker. */
function sharedBrowser(): Promise<Browser> {
  browser ??= shared('browser').then((address) => chromium.connect(address));
  return browser;
}

/**
 * A browser for the tests of this file or `describe`. A test fails when one of its pages threw, logged an error or
 * ran into its content security policy.
 */
export function useBrowser() {
  const opened: Page[] = [];
  const faults: string[] = [];
  // The start is no part of a test's time.
  beforeAll(async () => void (await sharedBrowser()));
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
    expect(faults.splice(0), 'errors in the page').toEqual([]);
  });
  /** Loads an address in a browser of its own: no cookies or storage are shared with other calls. */
  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const viewport = { width: 1440, height: 900 };
    const context = await (await sharedBrowser()).newContext({ viewport, ...options });
    const page = await context.newPage();
    opened.push(page);
    page.setDefaultTimeout(TIMEOUT_MS);
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      // An answer other than 2xx is the page's business to show.
      if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text);
    });
    await page.goto(url);
    return page;
  }
  return {
    open,
    /** The same for the local workspace, once it is connected. */
    async openWorkspace(url: string, options?: BrowserContextOptions): Promise<Page> {
      const page = await open(url, options);
      // Until its stream is open, the page reads messages and counts none of them as new.
      await page.getByRole('status').getByText('Connected').waitFor({ state: 'attached' });
      return page;
    },
  };
}

/** With `DECKHAND_SCREENSHOTS=1`, saves what the page looks like as `test/screenshots/<name>.png`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env.DECKHAND_SCREENSHOTS !== '1') return;
  mkdirSync(pictures, { recursive: true });
  await page.mouse.move(-1, -1);
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}
