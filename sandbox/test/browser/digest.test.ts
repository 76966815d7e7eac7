import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, visit } from './workspace.ts';

const HOUR = 3_600_000;

describeInBrowser('a digest, set up in its form and read with its chart', () => {
  const browser = useBrowser();
  const time = createManualClock('2026-03-02T08:00:00Z');
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true, time });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('is previewed for one person, and posted for all at its time', async () => {
    const { page, type, dialog, messages } = await visit(browser, world, 'admin', CHANNEL);
    await type('/deckhand digest add');
    const form = dialog('Add a digest');
    await form.getByRole('combobox', { name: 'How often' }).fill('every day');
    await page.keyboard.press('Enter');
    await form.getByText(/Next, in your own time: .*Mar 2, 2026/).waitFor();
    await form.getByRole('combobox', { name: 'Only one project' }).fill('store');
    await page.getByRole('option', { name: /Storefront/ }).waitFor();
    await page.keyboard.press('Escape');
    expect(await seriousFaults(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();

    await messages.getByText(/set up the digest/).waitFor();
    await messages.getByRole('button', { name: 'Preview' }).click();
    const preview = messages.getByRole('article').filter({ hasText: 'Success rate' });
    await preview.getByRole('img', { name: /deployments/i }).waitFor();
    const other = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    await other.messages.getByText(/set up the digest/).waitFor();
    expect(await other.messages.getByText('Success rate').count()).toBe(0);

    await time.advance(HOUR);
    const posted = other.messages.getByRole('article').filter({ hasText: 'Success rate' });
    await posted.getByRole('button', { name: 'Snooze a week' }).waitFor();
    await posted.getByRole('img', { name: /deployments/i }).waitFor();
    const areDrawn =
      '[...document.images].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)';
    await expect.poll(() => other.page.evaluate(areDrawn)).toBe(true);
    await takePicture(other.page, 'digest');
    await page.getByRole('article').getByRole('button', { name: 'Snooze a week' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });
});
