import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { LEASE } from '../../src/jobs/pg-boss-jobs.ts';
import { isPostgres } from '../../src/store/open-store.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { storedText } from '../support/stored-text.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { ACCOUNT, CHANNEL, connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';
import { setDatabaseClock } from './database-clock.ts';

const LONG_MS = 600_000;
/** Whose form is cut off before it is known to the service. */
const NEW = {
  account: 'harbour',
  email: 'hal@example.com',
  api_key: 'HalsKey000HalsKey000HalsKey000HalsKey000',
};

describe.each(byLength(['sqlite'], ['sqlite', 'postgres']))(
  'a form whose process is killed while it is carried out, on %s',
  (kind) => {
    let around: Surroundings;
    let slack: Surroundings['slack'];
    let product: Product;
    let stored: string;

    // Starts are dear: one kill catches both forms.
    beforeAll(async () => {
      around = await openSurroundings({ speed: 20 });
      const { service, env } = around;
      slack = around.slack;
      service.world.addAccount({
        name: NEW.account,
        users: [{ email: NEW.email, apiKey: NEW.api_key, role: 'admin' }],
      });
      const storeUrl = kind === 'sqlite' ? (env.STORE_URL ?? '') : await freshDatabase();
      product = around.createProduct({ STORE_URL: storeUrl });
      await around.start(product);
      await connectAccount(slack);
      const slow = [
        service.faults.add({ path: `/${NEW.account}/profile`, delayMs: LONG_MS }),
        service.faults.add({ path: `/${ACCOUNT}/**`, method: 'POST', delayMs: LONG_MS }),
      ];
      await submitAccount();
      await submitIntegration();
      await product.kill();
      stored = await storedText(storeUrl);
      // The next one need not wait until the dead one's lease ends.
      if (isPostgres(storeUrl)) await setDatabaseClock(storeUrl, LEASE.leaseMs + 1_000);
      for (const fault of slow) fault.remove();
      await around.start(product);
    });
    afterAll(async () => {
      await product.stop();
      await around.close();
    });

    const told = () => [
      ...slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text),
      ...slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text),
    ];
    const isConnected = () => told().some((text) => text.includes(`Connected ${NEW.account}`));
    const ann = () => slack.as(TEAM, PEOPLE.admin);
    const view = () => ann().openView();

    async function submitAccount(): Promise<void> {
      await ann().command(CHANNEL, '/deckhand connect');
      await slack.until(() => view()?.content.callback_id === 'connect');
      const { body } = await ann().submit('connect', NEW);
      expect(body).toContain('One moment');
    }

    async function submitIntegration(): Promise<void> {
      await ann().command(CHANNEL, '/deckhand integration add storefront');
      await slack.until(() => view()?.content.callback_id === 'integration.add');
      const name = { actionId: 'hook_type', blockId: 'hook_type', selected: 'http_req' };
      await ann().click({ viewId: view()?.id ?? '' }, name);
      await slack.until(() => JSON.stringify(view()?.content).includes('properties.url'));
      const values = { name: 'x', flags: ['send_on_failure'], 'properties.url': 'https://hooks.example.com' };
      const { body } = await ann().submit('integration.add', values);
      expect(body).toContain('One moment');
    }

    it('is carried out by the next one, although it was acknowledged as late', async () => {
      expect(stored.includes('forms'), 'the form waits to be carried out').toBe(true);
      for (const typed of [NEW.api_key, NEW.email])
        expect(stored.includes(typed), 'what was typed is sealed').toBe(false);
      await slack.until(isConnected, { what: 'the account' });
      expect(around.logs.join('')).not.toContain(NEW.api_key);
    });

    it('is not ordered a second time: the person is told to check', async () => {
      await slack.until(() => JSON.stringify(view()?.content).includes('may or may not be done'), {
        what: 'the person to be told',
      });
      const posts = around.service.requests.all.filter(({ method }) => method === 'POST');
      expect(posts.length).toBeLessThanOrEqual(1);
    });

    it('is counted, since its answer may stand twice', async () => {
      await slack.until(isConnected, { what: 'the account' });
      const counted = () => around.logs.filter((line) => line.includes('"event":"possible_duplicate"'));
      await expect.poll(() => counted().length).toBe(2);
    });
  },
);
