import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../support/browser.ts';

/** What a page can know of an earlier test. */
const FOUND = `(async () => ({
  storage: { ...localStorage, ...sessionStorage },
  cookies: document.cookie,
  databases: await indexedDB.databases(),
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  width: innerWidth,
}))()`;
const NOTHING = { storage: {}, cookies: '', databases: [], dark: false, width: 1440 };
const LEFT = `localStorage.a = 1; sessionStorage.b = 2; document.cookie = 'c=3';
  new Promise((resolve) => { indexedDB.open('d').onsuccess = resolve; }).then(() => undefined)`;

describeInBrowser('a page that is kept for later tests', () => {
  const browser = useBrowser();
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>A page</p>');
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => void server.close());

  it('is used in one test', async () => {
    const page = await browser.open(url, { viewport: { width: 600, height: 400 }, colorScheme: 'dark' });
    await page.evaluate(LEFT);
    expect(await page.evaluate(FOUND)).toMatchObject({
      storage: { a: '1', b: '2' },
      cookies: 'c=3',
      dark: true,
    });
    await page.context().newPage();
  });

  it('shows the next test nothing of that, and two pages at a time share nothing', async () => {
    const page = await browser.open(url);
    expect(page.context().pages()).toHaveLength(1);
    expect(await page.evaluate(FOUND)).toEqual(NOTHING);
    await page.evaluate("document.cookie = 'c=3'");
    expect(await (await browser.open(url)).evaluate(FOUND)).toEqual(NOTHING);
  });
});
