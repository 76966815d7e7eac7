import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { byLength } from '../../../test/support/length.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { seriousColourFaults, seriousFaults } from '../support/axe.ts';
import { type BrowserHandle, takePicture } from '../support/browser.ts';

/** What the README’s pictures are taken at. */
export const README_SIZE = { viewport: { width: 1180, height: 720 } };
/** A telephone. */
export const NARROW = { width: 390, height: 800 };

/** Pictures of what the page shows; the long form takes them in dark too, and where it is narrow. */
export async function takePictures(page: Page, name: string): Promise<void> {
  expect(await seriousFaults(page)).toEqual([]);
  await takePicture(page, name);
  if (byLength(true, false)) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await seriousColourFaults(page)).toEqual([]);
  await takePicture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(NARROW);
  await takePicture(page, `${name}-narrow`);
  await page.setViewportSize(README_SIZE.viewport);
}

const CHANNEL_NAMES: Record<string, string> = { [CHANNEL]: 'deploys', C0BILLING: 'billing' };

/** One person at the workspace's page. */
export async function visit(
  browser: BrowserHandle,
  world: Pick<TestWorld, 'slack'>,
  who: keyof typeof PEOPLE,
  channel: string = CHANNEL,
  options: BrowserContextOptions = {},
) {
  const page = await browser.openWorkspace(
    `${world.slack.origin}/#/${TEAM}/${PEOPLE[who]}/${channel}`,
    options,
  );
  const name = CHANNEL_NAMES[channel] ?? channel;
  const composer = page.getByRole('textbox', { name: `Message #${name}` });
  return {
    page,
    messages: page.getByRole('region', { name: `Messages in #${name}` }),
    thread: page.getByRole('complementary', { name: 'Thread' }),
    /** Writes into the composer and sends it, once the form before is closed. */
    async type(line: string): Promise<void> {
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      await composer.fill(line);
      await page.getByRole('button', { name: 'Send' }).first().click();
    },
    dialog: (title: string | RegExp) => page.getByRole('dialog', { name: title }),
  };
}

/** Connects the demo's account without the page, for tests that are about something else. */
export async function connectDemo(world: TestWorld): Promise<void> {
  const ann = world.as('admin');
  await ann.command(CHANNEL, '/deckhand connect');
  await world.slack.until(() => ann.openView()?.content.callback_id === 'connect');
  const { account, email, apiKey } = DEMO_USERS.admin;
  await ann.submit('connect', { account, email, api_key: apiKey });
}

/** Closes a form that was sent and carried out. On a loaded machine its outcome replaces it after two seconds. */
export async function closeSent(form: Locator): Promise<void> {
  if (await form.isVisible()) await form.page().keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
}

/** As often as it takes, as a person would; gives up where the place cannot be reached. */
export async function walkTo(page: Page, key: 'Tab' | 'Shift+Tab', goal: Locator): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press(key);
    if ((await goal.and(page.locator(':focus')).count()) > 0) return;
  }
  throw new Error(`${key} does not lead to ${goal}`);
}
