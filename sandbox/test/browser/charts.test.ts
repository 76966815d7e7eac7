import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, NARROW, README_SIZE, takePictures, visit } from './workspace.ts';

/** The names under the bars of the last chart; none overlaps the next. */
async function expectReadableDays(page: Page): Promise<string[]> {
  const boxes = await page.evaluate<{ left: number; right: number; name: string }[]>(
    `[...document.querySelectorAll('.chart-drawing')].at(-1).querySelectorAll('.chart-grid > text').values()
      .map((text) => ({ ...text.getBoundingClientRect().toJSON(), name: text.textContent })).toArray()`,
  );
  for (const [at, { left }] of boxes.entries())
    expect(left).toBeGreaterThan(boxes[at - 1]?.right ?? Number.NEGATIVE_INFINITY);
  return boxes.map(({ name }) => name);
}

describeInBrowser('charts and long tables, as a person sees them', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('draws the deployments of a week', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand activity 7d stats');
    await messages.getByText('Deployments per day').first().waitFor();
    await messages.getByRole('button', { name: 'Share to channel' }).waitFor();
    await messages.getByText('Deployments per day').first().scrollIntoViewIfNeeded();
    await takePictures(page, 'activity-stats');
    for (const viewport of [README_SIZE.viewport, NARROW]) {
      await page.setViewportSize(viewport);
      expect((await expectReadableDays(page)).length).toBeGreaterThan(2);
    }
  });

  it('draws 30 days as bars of two days', async () => {
    const { page, type, messages } = await visit(browser, world, 'billing', CHANNEL, README_SIZE);
    await type('/deckhand activity 30d stats');
    await messages.getByText('Deployments, 2 days a bar').first().scrollIntoViewIfNeeded();
    await takePictures(page, 'activity-month');
    for (const viewport of [README_SIZE.viewport, NARROW]) {
      await page.setViewportSize(viewport);
      expect((await expectReadableDays(page)).length).toBeGreaterThan(2);
    }
  });

  it('shows words where the workspace takes no chart', async () => {
    const allow = world.slack.policy(TEAM, { refusedBlocks: ['data_visualization', 'data_table'] });
    const { page, type, messages } = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    await type('/deckhand activity 7d stats');
    await messages
      .getByText(/▇+ \d+ succeeded/)
      .first()
      .scrollIntoViewIfNeeded();
    await takePictures(page, 'activity-words');
    allow();
  });

  it('leafs through managed resources', async () => {
    for (let at = 1; at <= 14; at += 1)
      world.service.world.addHostedResource({
        account: 'acme',
        name: `edge-${at}`,
        identifier: `edge-${at}`,
      });
    const { page, type, messages } = await visit(browser, world, 'billing', CHANNEL, README_SIZE);
    await type('/deckhand hosting');
    await messages.getByRole('region', { name: 'Managed servers' }).waitFor();
    await takePictures(page, 'hosting');
    await messages.getByRole('button', { name: 'Next' }).click();
    await messages.getByText('2 of 2').waitFor();
    await messages.getByRole('rowheader', { name: 'edge-14' }).waitFor();
  });

  it('shows the made-up key where connect asks for it', async () => {
    const { page, type, dialog } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand connect');
    const form = dialog('Connect an account');
    await form.getByText(DEMO_USERS.admin.apiKey).waitFor();
    await takePictures(page, 'connect');
  });

  it('goes to the newest message when one is sent from further up', async () => {
    for (let at = 0; at < 40; at += 1) await world.as('member').postMessage(CHANNEL, `line ${at}`);
    const { page, type, messages } = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    await messages.getByText('line 39', { exact: true }).waitFor();
    await messages.getByText('line 0', { exact: true }).scrollIntoViewIfNeeded();
    const list = "document.querySelector('.message-list')";
    const toEnd = () =>
      page.evaluate<number>(`${list}.scrollHeight - ${list}.scrollTop - ${list}.clientHeight`);
    await expect.poll(toEnd).toBeGreaterThan(300);
    await type('here I am');
    await messages.getByText('here I am').waitFor();
    await expect.poll(toEnd).toBeLessThan(5);
  });
});
