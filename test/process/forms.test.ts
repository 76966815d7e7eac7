import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { LEASE } from '../../src/jobs/pg-boss-jobs.ts';
import { isPostgres } from '../../src/store/open-store.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { storedText } from '../support/stored-text.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import {
  ACCOUNT,
  addTestAccount,
  CHANNEL,
  connectAccount,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/test-world.ts';
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
    let slack: LocalSlack;
    let service: SimulatedService;
    let product: Product;
    let storeUrl: string;
    let folder: string;
    let stored: string;
    const logs: string[] = [];

    // Starts are dear: one kill catches both forms.
    beforeAll(async () => {
      folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-'));
      service = await startSimulatedService({ speed: 20 });
      slack = await startSlack({
        app: appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml')),
      });
      const { botToken } = furnish(slack);
      addTestAccount(service, undefined);
      service.world.addAccount({
        name: NEW.account,
        users: [{ email: NEW.email, apiKey: NEW.api_key, role: 'admin' }],
      });
      const env = environment(slack, service, botToken, folder);
      storeUrl = kind === 'sqlite' ? `sqlite://${join(folder, 'deckhand.sqlite')}` : await freshDatabase();
      product = createProduct({ ...env, STORE_URL: storeUrl }, (line) => logs.push(line));
      await restart();
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
      await restart();
    });
    afterAll(async () => {
      await product.stop();
      await Promise.all([slack.stop(), service.stop()]);
      await rm(folder, { recursive: true, force: true });
    });

    async function restart(): Promise<void> {
      slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    }
    const told = () => [
      ...slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text),
      ...slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text),
    ];
    const isConnected = () => told().some((text) => text.includes(`Connected *${NEW.account}`));
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
      expect(logs.join('')).not.toContain(NEW.api_key);
    });

    it('is not ordered a second time: the person is told to check', async () => {
      await slack.until(() => JSON.stringify(view()?.content).includes('may or may not be done'), {
        what: 'the person to be told',
      });
      const posts = service.requests.all.filter(({ method }) => method === 'POST');
      expect(posts.length).toBeLessThanOrEqual(1);
    });

    it('is counted, since its answer may stand twice', async () => {
      await slack.until(isConnected, { what: 'the account' });
      const counted = () => logs.filter((line) => line.includes('"event":"possible_duplicate"'));
      await expect.poll(() => counted().length).toBe(2);
    });
  },
);
