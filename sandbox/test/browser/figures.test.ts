import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, NARROW, README_SIZE, takePictures, visit } from './workspace.ts';

const HOUR_MS = 3_600_000;

/** No name under the bars of the last chart overlaps the next. */
async function expectReadableDays(page: Page): Promise<void> {
  const boxes = await page.evaluate<{ left: number; right: number }[]>(
    `[...document.querySelectorAll('.chart-drawing')].at(-1).querySelectorAll('.chart-grid > text').values()
      .map((text) => text.getBoundingClientRect().toJSON()).toArray()`,
  );
  expect(boxes.length).toBeGreaterThan(2);
  for (const [at, { left }] of boxes.entries())
    expect(left).toBeGreaterThan(boxes[at - 1]?.right ?? Number.NEGATIVE_INFINITY);
}

describeInBrowser('figures and charts, asked for and in a digest', () => {
  const browser = useBrowser();
  const time = createManualClock('2026-03-02T08:00:00Z');
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true, time });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('are drawn with days that can be read', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    for (const [words, title] of [
      ['7d', 'Deployments per day'],
      ['30d', 'Deployments, 2 days a bar'],
    ] as const) {
      await type(`/deckhand activity ${words} stats`);
      await messages.getByText(title).first().scrollIntoViewIfNeeded();
      if (words === '7d') await takePictures(page, 'activity-stats');
      for (const viewport of [NARROW, README_SIZE.viewport]) {
        await page.setViewportSize(viewport);
        await expectReadableDays(page);
      }
    }
  });

  it('are previewed for one person, and posted for all at the time of the digest', async () => {
    const deployment = { account: 'acme', project: 'storefront', succeeded: true };
    world.service.world.addDeployment({ ...deployment, endedAt: time.now() - 20 * HOUR_MS });
    const { page, type, dialog, messages } = await visit(browser, world, 'admin', CHANNEL);
    await type('/deckhand digest add');
    const form = dialog('Add a digest');
    await form.getByRole('combobox', { name: 'How often' }).fill('every day');
    await page.keyboard.press('Enter');
    await form.getByText(/Next, in your own time: .*Mar 2, 2026/).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await messages.getByText(/Set up: the digest/).waitFor();
    await type('/deckhand digest preview');
    const preview = messages.getByRole('article').filter({ hasText: 'Success rate' });
    const chart = preview.getByRole('img', { name: /deployments/i }).last();
    await chart.waitFor();
    const other = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    await other.messages.getByText(/A digest every day/).waitFor();
    expect(await other.messages.getByText('Success rate').count()).toBe(0);

    world.service.world.addDeployment(deployment);
    const isPosted = () =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('Deployment digest'));
    while (!isPosted()) await time.advance(HOUR_MS / 60);
    const posted = other.messages.getByRole('article').filter({ hasText: 'Success rate' });
    await posted.getByRole('button', { name: 'Snooze a week' }).waitFor();
    await posted.getByRole('img', { name: /deployments/i }).waitFor();
    expect(await posted.getByText('0.5', { exact: true }).count(), 'half a deployment').toBe(0);
    await takePictures(other.page, 'digest');
  });
});
