import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onlyYou, replies, testRun } from '../slack/web/fixture-messages.ts';
import { hostFurnishedPage } from '../slack/web/furnished-page.ts';
import type { PageHost } from '../slack/web/page-host.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';

/** What a page can know of an earlier test. */
const FOUND = `(async () => ({
  storage: { ...localStorage, ...sessionStorage },
  cookies: document.cookie,
  databases: await indexedDB.databases(),
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches,
  width: innerWidth,
  mark: globalThis.mark,
}))()`;
const NOTHING = { storage: {}, cookies: '', databases: [], dark: false, still: false, width: 1440 };

describeInBrowser('pages that are kept for later tests', () => {
  const browser = useBrowser();
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>A page</p>');
  });
  let url: string;
  let first: Page;
  let heard = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => void server.close());

  it('are used, in every way a test may', async () => {
    first = await browser.open(url, { viewport: { width: 600, height: 400 }, colorScheme: 'dark' });
    first.on('request', () => {
      heard += 1;
    });
    await first.emulateMedia({ reducedMotion: 'reduce' });
    await first.evaluate(`localStorage.a = 1; sessionStorage.b = 2; document.cookie = 'c=3'; mark = 4;
      new Promise((resolve) => { indexedDB.open('d').onsuccess = resolve; }).then(() => undefined)`);
    expect(await first.evaluate(FOUND)).toMatchObject({
      storage: { a: '1', b: '2' },
      cookies: 'c=3',
      dark: true,
      still: true,
    });
    await first.context().newPage();
  });

  it('show the next test nothing of that, and two at a time nothing of each other', async () => {
    const before = heard;
    const page = await browser.open(url);
    expect(page).toBe(first);
    expect(page.context().pages()).toHaveLength(1);
    expect(await page.evaluate(FOUND)).toEqual(NOTHING);
    expect(heard).toBe(before);
    await page.evaluate("document.cookie = 'c=3'");
    const other = await browser.open(url);
    expect(await other.evaluate(FOUND)).toEqual(NOTHING);
    await other.close();
  });

  it('are opened anew where a test closed one', async () => {
    const pages = [await browser.open(url), await browser.open(url)];
    expect(await Promise.all(pages.map((page) => page.evaluate(FOUND)))).toEqual([NOTHING, NOTHING]);
  });
});

describeInBrowser('the local workspace where an earlier test left it', () => {
  const browser = useBrowser();
  let host: PageHost;
  let first: Page;
  let fresh: string;
  beforeAll(async () => {
    host = await hostFurnishedPage([testRun, ...replies, onlyYou]);
  });
  afterAll(() => host.stop());

  /** All that is shown, with what is typed and where the focus is. */
  async function shown(page: Page): Promise<string> {
    await page.getByText('Only visible to you').waitFor();
    await page.getByText('Connected', { exact: true }).waitFor({ state: 'attached' });
    return page.locator('body').ariaSnapshot();
  }

  it('is used, in every way a test may', async () => {
    first = await browser.openWorkspace(host.url);
    fresh = await shown(first);
    await first.evaluate('mark = 4');
    await first.getByRole('textbox', { name: 'Message #deploys' }).fill('half a sentence');
    await first.getByRole('button', { name: 'Inspector', exact: true }).click();
    await first.getByRole('button', { name: 'Theme: system' }).click();
    await first.getByRole('button', { name: 'Theme: light' }).click();
    await first.getByRole('button', { name: /4 replies/ }).click();
    await first.getByRole('button', { name: 'Disconnect' }).first().click();
    await first.getByRole('alertdialog').waitFor();
  });

  it('holds no stream meanwhile, and starts anew without being loaded', async () => {
    await expect.poll(() => host.streams()).toBe(0);
    const page = await browser.openWorkspace(host.url);
    expect(page).toBe(first);
    expect(await page.evaluate('mark')).toBe(4);
    expect(await shown(page)).toBe(fresh);
    expect(page.url()).toBe(host.url);
  });
});
