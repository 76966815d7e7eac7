import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { visit } from './workspace.ts';

describeInBrowser('A linked project, as a person opens it', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({
      page: true,
      connected: true,
      slackApp: { unfurlDomains: ['127.0.0.1'] },
    });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const now = world.service.clock.now();
    for (const [at, succeeded] of [true, false, true].entries())
      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'storefront',
        user: 'Kim',
        succeeded,
        endedAt: now - at * 3_600_000,
      });
  });
  afterAll(() => world.stop());

  it.for([
    ['light', 1180],
    ['dark', 400],
  ] as const)(
    'shows deployments and a test beside the conversation, in %s at %i px',
    async ([theme, width]) => {
      const { page, messages, type } = await visit(
        browser,
        world,
        'member',
        width === 400 ? 'C0BILLING' : CHANNEL,
        {
          colorScheme: theme,
          viewport: { width, height: 720 },
        },
      );
      await type(`${world.service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront`);
      await messages.getByRole('button', { name: 'Details of Storefront' }).click();
      const pane = page.getByRole('complementary', { name: 'Storefront' });
      await pane.getByText(/Deploy failed .*by Kim/).waitFor();
      await pane.getByText('Last deployed').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await takePicture(page, `details-${theme}`);
      await page.keyboard.press('Escape');
      await pane.waitFor({ state: 'detached' });
      await messages.getByRole('button', { name: 'Details of Storefront' }).click();
      await pane.getByRole('button', { name: 'Test access' }).click();
      await messages
        .getByText(/ reachable/)
        .first()
        .waitFor();
    },
  );
});
