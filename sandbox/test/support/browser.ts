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

export interface BrowserHandle {
  /** Loads an address in a browser of its own: no cookies or storage are shared with other calls. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
  /** The same for the local workspace. Where an earlier test had it open, the page starts anew without being loaded. */
  openWorkspace(url: string, options?: BrowserContextOptions): Promise<Page>;
}

interface Lent {
  page: Page;
  kind: string;
  url: string;
  isWorkspace: boolean;
}

interface Kept {
  page: Page;
  /** Where the local workspace is left in it; other pages are emptied. */
  workspace?: string;
}

const VIEWPORT = { width: 1440, height: 900 };
let browser: Promise<Browser> | undefined;
/** Pages by their options, each alone in its context: a new one starts a process and costs twice as much. */
const idle = new Map<string, Kept[]>();

/** The run's Chromium as this worker has it: what it opens there ends with the worker. */
function sharedBrowser(): Promise<Browser> {
  browser ??= shared('browser').then((address) => chromium.connect(address));
  return browser;
}

/**
 * A browser for the tests of this file or `describe`. A test fails when one of its pages threw, logged an error or
 * ran into its content security policy; its pages are then closed, and otherwise kept for later tests.
 */
export function useBrowser(): BrowserHandle {
  let lent: Lent[] = [];
  let faults: string[] = [];
  // The start is no part of a test's time.
  beforeAll(async () => void (await sharedBrowser()));
  afterEach(async ({ task }) => {
    const [opened, heard] = [lent, faults];
    lent = [];
    faults = [];
    if (task.result?.state === 'fail') {
      await Promise.all(opened.map(({ page }) => page.context().close()));
    } else {
      await Promise.all(opened.map(takeBack));
    }
    expect(heard, 'errors in the page').toEqual([]);
  });
  async function show(url: string, options: BrowserContextOptions, isWorkspace: boolean): Promise<Page> {
    const { viewport, colorScheme = 'light', ...others } = options;
    const kind = JSON.stringify(others);
    const workspace = isWorkspace ? new URL('/', url).href : undefined;
    const kept = takeIdle(kind, workspace) ?? { page: await newPage(others) };
    const { page } = kept;
    lent.push({ page, kind, url, isWorkspace });
    listen(page, faults);
    await page.setViewportSize(viewport ?? VIEWPORT);
    await page.emulateMedia({
      colorScheme,
      media: null,
      reducedMotion: null,
      forcedColors: null,
      contrast: null,
    });
    if (isWorkspace && kept.workspace === workspace) await page.evaluate(comeBack(url));
    else await page.goto(url);
    return page;
  }
  return {
    open: (url, options = {}) => show(url, options, false),
    async openWorkspace(url, options = {}) {
      const page = await show(url, options, true);
      // Until its stream is open, the page reads messages and counts none of them as new.
      await page.getByRole('status').getByText('Connected').waitFor({ state: 'attached' });
      return page;
    },
  };
}

/** One that has the workspace open already, or else any. */
function takeIdle(kind: string, workspace: string | undefined): Kept | undefined {
  const kept = idle.get(kind) ?? [];
  const at = kept.findIndex((one) => one.workspace === workspace);
  return kept.splice(at, 1)[0];
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  const context = await (await sharedBrowser()).newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  return page;
}

/** Keeps a page without anything that a test did: second pages, storage, listeners, the pointer over it. */
async function takeBack({ page, kind, url, isWorkspace }: Lent): Promise<void> {
  const context = page.context();
  if (page.isClosed()) {
    await context.close();
    return;
  }
  await Promise.all(context.pages().map((one) => (one === page ? undefined : one.close())));
  await page.mouse.move(-1, -1);
  const at = new URL('/', url).href;
  const isThere = isWorkspace && page.url().replace(/#.*/, '') === at;
  if (isThere) await page.evaluate(LEAVE);
  else await empty(page, url);
  for (const event of ['pageerror', 'console', 'request'] as const) page.removeAllListeners(event);
  const kept = isThere ? { page, workspace: at } : { page };
  idle.set(kind, [...(idle.get(kind) ?? []), kept]);
}

/** As a browser does with a page that it keeps for the way back: nothing of what was shown or typed is left. */
const LEAVE = `dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  localStorage.clear();
  sessionStorage.clear();`;

function comeBack(url: string): string {
  return `history.replaceState(null, '', ${JSON.stringify(url)});
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));`;
}

async function empty(page: Page, url: string): Promise<void> {
  const origins = new Set([url, page.url()].map((address) => new URL(address).origin));
  await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  const session = await page.context().newCDPSession(page);
  for (const origin of origins) {
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  }
  await session.detach();
  await page.context().clearCookies();
}

/** With `DECKHAND_SCREENSHOTS=1`, saves what the page looks like as `test/screenshots/<name>.png`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env.DECKHAND_SCREENSHOTS !== '1') return;
  mkdirSync(pictures, { recursive: true });
  await page.mouse.move(-1, -1);
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}

/** An answer other than 2xx is the page's business to show; only what it did not expect is a fault. */
function listen(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text);
  });
}
