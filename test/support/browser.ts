import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

const candidates = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const pictures = join(import.meta.dirname, '..', 'screenshots');
/** Long enough for a loaded machine, and shorter than a test may take, so that a failure names what was waited for. */
const TIMEOUT_MS = 60_000;
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--font-render-hinting=none',
];

/**
 * A `describe` for what needs a browser. Where there is none, its one test is skipped and says why; with `CI=true`
 * it fails instead.
 */
export function describeInBrowser(name: string, define: () => void): void {
  if (executable() !== undefined) {
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

export interface BrowserHandle {
  /** Opens an address in a browser of its own: no cookies or storage are shared with other calls. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
}

let browser: Promise<Browser> | undefined;

/** Chromium, started with the first test that needs it and shared by all files of this worker; it ends with the worker. */
function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: executable() ?? '', args });
  return browser;
}

/**
 * A browser for the tests of this file or `describe`. A test fails when one of its pages threw, logged an error or
 * ran into its content security policy.
 */
export function useBrowser(): BrowserHandle {
  let contexts: BrowserContext[] = [];
  let faults: string[] = [];
  // The start is no part of a test's time.
  beforeAll(async () => void (await sharedBrowser()));
  afterEach(async () => {
    const [open, heard] = [contexts, faults];
    contexts = [];
    faults = [];
    await Promise.all(open.map((context) => context.close()));
    expect(heard, 'errors in the page').toEqual([]);
  });
  return {
    open: async (url, options = {}) => {
      const context = await (await sharedBrowser()).newContext({
        viewport: { width: 1440, height: 900 },
        ...options,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      listen(page, faults);
      await page.goto(url);
      return page;
    },
  };
}

/** Saves what the page looks like as `test/screenshots/<name>.png`; answers the file's path. */
export async function takePicture(page: Page, name: string): Promise<string> {
  mkdirSync(pictures, { recursive: true });
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}

function executable(): string | undefined {
  return candidates.find((path) => path !== undefined && existsSync(path));
}

/** An answer other than 2xx is the page's business to show; only what it did not expect is a fault. */
function listen(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text);
  });
}
