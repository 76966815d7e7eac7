import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { LEASE } from '../../src/jobs/pg-boss.ts';
import { isPostgres } from '../../src/store/open-store.ts';
import { freshDatabase } from '../support/postgres.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { storedText } from '../support/stored-text.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import {
  ACCOUNT,
  API_KEY,
  addTestAccount,
  CHANNEL,
  connectAccount,
  EMAIL,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/test-world.ts';
import { setDatabaseClock } from './database-clock.ts';

const LONG_MS = 600_000;

describe.each(['sqlite', 'postgres'])(
  'a form whose process is killed while it is carried out, on %s',
  (kind) => {
    let slack: LocalSlack;
    let service: SimulatedService;
    let product: Product;
    let storeUrl: string;
    let folder: string;
    const logs: string[] = [];

    // Starts are dear: all tests have one Deckhand.
    beforeAll(async () => {
      folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-'));
      service = await startSimulatedService({ speed: 20 });
      slack = await startSlack({
        app: appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml')),
      });
      const { botToken } = furnish(slack);
      addTestAccount(service, undefined);
      const env = environment(slack, service, botToken, folder);
      storeUrl = kind === 'sqlite' ? `sqlite://${join(folder, 'deckhand.sqlite')}` : await freshDatabase();
      product = createProduct({ ...env, STORE_URL: storeUrl }, (line) => logs.push(line));
      await restart();
    });
    afterAll(async () => {
      await product.stop();
      await Promise.all([slack.stop(), service.stop()]);
      await rm(folder, { recursive: true, force: true });
    });

    let kills = 0;
    /** The next one need not wait until the dead one's lease ends. */
    async function kill(): Promise<void> {
      await product.kill();
      if (!isPostgres(storeUrl)) return;
      kills += 1;
      await setDatabaseClock(storeUrl, kills * (LEASE.leaseMs + 1_000));
    }
    async function restart(): Promise<void> {
      slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    }
    const told = () => [
      ...slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text),
      ...slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text),
    ];
    const ann = () => slack.as(TEAM, PEOPLE.admin);

    it('is carried out by the next one, although it was acknowledged as late', async () => {
      const slow = service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: LONG_MS });
      await ann().command(CHANNEL, '/deckhand connect');
      await slack.until(() => ann().openView()?.content.callback_id === 'connect');
      const { body } = await ann().submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
      expect(body).toContain('One moment');
      await kill();
      const stored = await storedText(storeUrl);
      expect(stored.includes('forms'), 'the form waits to be carried out').toBe(true);
      for (const typed of [API_KEY, EMAIL])
        expect(stored.includes(typed), 'what was typed is sealed').toBe(false);
      slow.remove();
      await restart();
      await slack.until(() => told().some((text) => text.includes('Connected *')), { what: 'the account' });
      expect(logs.filter((line) => line.includes('"event":"delivery_uncertain"'))).toHaveLength(1);
      expect(logs.join('')).not.toContain(API_KEY);
    });

    it('is not ordered a second time: the person is told to check', async () => {
      await connectAccount(slack);
      await ann().command(CHANNEL, '/deckhand integration add storefront');
      await slack.until(() => ann().openView()?.content.callback_id === 'integration.add');
      const view = () => ann().openView();
      const name = { actionId: 'hook_type', blockId: 'hook_type', selected: 'http_req' };
      await ann().click({ viewId: view()?.id ?? '' }, name);
      await slack.until(() => JSON.stringify(view()?.content).includes('properties.url'));
      const slow = service.faults.add({ path: `/${ACCOUNT}/**`, method: 'POST', delayMs: LONG_MS });
      const values = { name: 'x', 'properties.url': 'https://hooks.example.com' };
      const { body } = await ann().submit('integration.add', values);
      expect(body).toContain('One moment');
      await kill();
      slow.remove();
      await restart();
      await slack.until(() => JSON.stringify(view()?.content).includes('may or may not be done'), {
        what: 'the person to be told',
      });
      const posts = service.requests.all.filter(({ method }) => method === 'POST');
      expect(posts.length).toBeLessThanOrEqual(1);
    });
  },
);
