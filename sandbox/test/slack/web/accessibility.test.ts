import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seriousColourFaults, seriousFaults } from '../../support/axe.ts';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { deployMessages, type Fixture, fewMessages, testRun } from './fixture-messages.ts';
import { formView } from './fixture-views.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

/** The first has all kinds of messages; beside the others stand those that they need. */
const MESSAGES: Record<string, readonly Fixture[]> = { workspace: deployMessages, confirm: [testRun] };

const scenes: Record<string, (page: Page, host: PageHost) => Promise<unknown>> = {
  workspace: async (page) => {
    await page.getByRole('button', { name: /4 replies/ }).click();
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('button', { name: '/deckhand test storefront' }).click();
  },
  modal: async (page, host) => {
    await page.getByText('Only visible to you').waitFor();
    host.push({ type: 'views', views: [formView] });
    await page.getByRole('button', { name: 'Add server' }).click();
    await page.getByRole('combobox', { name: 'Regions' }).click();
  },
  confirm: (page) => page.getByRole('button', { name: 'Disconnect' }).click(),
  home: async (page) => {
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('tab', { name: 'Faults' }).click();
  },
  commands: async (page) => {
    await page.getByRole('textbox', { name: 'Message #deploys' }).fill('/deckhand ');
    await page.getByRole('button', { name: /^Switch user/ }).click();
  },
};

describeInBrowser('the page to assistive technology', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage();
  });
  afterAll(() => host.stop());

  it.each(Object.entries(scenes))('has no serious fault, light or dark: %s', async (name, stage) => {
    host.answer('messages', { messages: MESSAGES[name] ?? fewMessages });
    const page = await browser.openWorkspace(host.url, {
      colorScheme: 'light',
      viewport: { width: 1600, height: 900 },
    });
    await stage(page, host);
    expect(await seriousFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousColourFaults(page)).toEqual([]);
  });

  it('has no serious fault on a narrow screen with the side bar open', async () => {
    host.answer('messages', { messages: deployMessages });
    const page = await browser.openWorkspace(host.url, {
      viewport: { width: 400, height: 800 },
    });
    await page.getByRole('button', { name: 'Open side bar' }).click();
    await page.getByRole('button', { name: 'Close side bar' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('button', { name: 'Close inspector' }).click();
    await page.getByRole('button', { name: 'Open side bar' }).click();
  });
});
