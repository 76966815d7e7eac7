import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { openProxy, type ServiceProxy } from '../support/proxy.ts';
import { openSurroundings, type Surroundings } from '../support/surroundings.ts';
import { ACCOUNT, connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';

const CHANNELS = {
  shop: 'C0SHOP',
  kiosk: 'C0KIOSK',
  digest: 'C0DIGEST',
  watch: 'C0WATCH',
  workflow: 'C0FLOW',
  test: 'C0TEST',
};

type IsIt = (path: string, body: string) => boolean;

describe('a process that is killed before it has kept an answer', () => {
  let around: Surroundings;
  let slack: Surroundings['slack'];
  let service: Surroundings['service'];
  let product: Product;
  let slackProxy: ServiceProxy;
  let serviceProxy: ServiceProxy;

  // Starts are dear: all that is held back here is caught by one kill, each in a channel of its own.
  beforeAll(async () => {
    const servers = [{ name: 'web-1' }, { name: 'web-2' }];
    around = await openSurroundings({
      speed: 20,
      channels: Object.values(CHANNELS),
      projects: [
        { name: 'Storefront', permalink: 'storefront', servers },
        { name: 'Warehouse', permalink: 'warehouse', servers },
        { name: 'Billing API', permalink: 'billing-api', servers: [] },
      ],
    });
    ({ slack, service } = around);
    [slackProxy, serviceProxy] = await Promise.all([openProxy(), openProxy()]);
    slackProxy.target = new URL(slack.apiUrl).origin;
    serviceProxy.target = service.origin;
    product = around.createProduct({
      SLACK_API_URL: slack.apiUrl.replace(slackProxy.target, slackProxy.origin),
      SERVICE_BASE_URL: service.baseUrl.replace(service.origin, serviceProxy.origin),
    });
    await around.start(product);
    await connectAccount(slack);
    const held = [...holdRoots(), ...holdAnswers()];
    await act();
    await Promise.all(held);
    await product.kill();
    for (const proxy of [slackProxy, serviceProxy]) proxy.change = (body) => body;
    await around.start(product);
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slackProxy.close(), serviceProxy.close(), around.close()]);
  });

  /** Lets answers be given but never arrive; each resolves when the first of its kind is held. */
  function hold(proxy: ServiceProxy, these: readonly IsIt[]): Array<Promise<void>> {
    const held = these.map(() => Promise.withResolvers<void>());
    proxy.change = (body, path) => {
      const at = these.findIndex((isIt) => isIt(path, body));
      if (at === -1) return body;
      held[at]?.resolve();
      return new Promise<string>(() => undefined);
    };
    return held.map(({ promise }) => promise);
  }

  function holdRoots(): Array<Promise<void>> {
    const { kiosk, digest, watch, workflow } = CHANNELS;
    const roots = [kiosk, digest, watch, workflow].map(
      (channel): IsIt =>
        (path, body) =>
          path.endsWith('/chat.postMessage') && body.includes(channel),
    );
    return hold(slackProxy, roots);
  }

  function holdAnswers(): Array<Promise<void>> {
    return hold(serviceProxy, [
      (path, body) => /\/servers(?:\.json)?$/.test(path) && body.includes('"shop"') && !body.startsWith('['),
      (path) => path.includes(`/${identify('storefront')}/test_access`) && !/test_access\/./.test(path),
    ]);
  }

  async function act(): Promise<void> {
    const { shop, kiosk, digest, watch, workflow, test } = CHANNELS;
    const ann = slack.as(TEAM, PEOPLE.admin);
    await ann.command(digest, `/deckhand digest add daily 09:00 UTC`);
    await ann.command(watch, `/deckhand watch storefront failures --hours 9-18`);
    slack.runFunction(TEAM, 'test_access', { project: 'warehouse', channel: workflow });
    await slack.as(TEAM, PEOPLE.member).command(test, '/deckhand test storefront');
    await order(shop, 'shop');
    await order(kiosk, 'kiosk');
  }

  async function order(channel: string, name: string): Promise<void> {
    const ann = slack.as(TEAM, PEOPLE.admin);
    const shows = (words: string) =>
      slack.until(() => JSON.stringify(ann.openView()?.content ?? '').includes(words), { what: words });
    await ann.command(channel, '/deckhand server add billing-api');
    await shows('"block_id":"subdomain"');
    await ann.submit('server.add', { name, subdomain: `${name}-front` });
    await shows('Create this server?');
    await ann.submit('server.add');
  }

  /** Calls name a project by its identifier. */
  function identify(permalink: string): string {
    const projects = service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    return projects.find((project) => project.permalink === permalink)?.identifier ?? permalink;
  }

  const roots = (channel: string) => slack.messages(TEAM, channel);
  const made = (path: string) =>
    service.requests.all.filter((one) => one.method === 'POST' && one.path.endsWith(path));
  const counted = (event: string, words: string) =>
    around.logs.filter((line) => line.includes(`"event":"${event}"`) && line.includes(words));

  it('to the order of a server follows that server, which it finds by its name, and orders none twice', async () => {
    const root = () => roots(CHANNELS.shop)[0]?.text ?? '';
    await slack.until(() => root().includes('shop in Billing API'), { what: 'the root' });
    service.clock.advance(10_000);
    await slack.until(() => root().includes('active'), { what: 'the server to be active' });
    expect(made('/servers').filter(({ body }) => JSON.stringify(body).includes('shop'))).toHaveLength(1);
    expect(counted('possible_duplicate', '"kind":"order"')).toHaveLength(1);
    const said = [...slack.ephemerals(TEAM, PEOPLE.admin), ...slack.dms(TEAM, PEOPLE.admin)];
    expect(JSON.stringify(said)).not.toContain('not known');
  });

  it('to the root message of a server counts it', async () => {
    const { kiosk } = CHANNELS;
    await slack.until(() => roots(kiosk).length === 2, { what: 'the second root' });
    expect(made('/servers').filter(({ body }) => JSON.stringify(body).includes('kiosk'))).toHaveLength(1);
    expect(counted('possible_duplicate', roots(kiosk)[1]?.client_msg_id ?? '?')).toHaveLength(1);
  });

  it.each(['digest', 'watch'] as const)('to the card of a new %s sets it up once', async (noun) => {
    const channel = CHANNELS[noun];
    await slack.until(() => roots(channel).length === 2, { what: 'the second card' });
    expect(roots(channel)[1]?.text).toBe(roots(channel)[0]?.text);
    await slack.as(TEAM, PEOPLE.admin).command(channel, `/deckhand ${noun} list`);
    const lists = () =>
      slack.ephemerals(TEAM, PEOPLE.admin).filter(({ text }) => text.includes('of this channel'));
    await slack.until(() => lists().some(({ text }) => text.startsWith(`1 ${noun} of this channel`)), {
      what: 'the list',
    });
  });

  it('to the root message of a workflow’s test counts it, and follows the second to its end', async () => {
    const { workflow } = CHANNELS;
    const second = () => roots(workflow)[1];
    await slack.until(() => second()?.text.includes('both servers are reachable'), {
      what: 'the second root',
    });
    expect(counted('possible_duplicate', second()?.client_msg_id ?? '?')).toHaveLength(1);
    expect(made('/warehouse/test_access')).toHaveLength(1);
  });

  it('to the start of a test run counts that it may run twice', async () => {
    const { test } = CHANNELS;
    await slack.until(() => roots(test)[0]?.text.includes('both servers are reachable'), {
      what: 'the run to end',
    });
    expect(roots(test)).toHaveLength(1);
    expect(made('/storefront/test_access')).toHaveLength(2);
    expect(counted('possible_duplicate', '"kind":"run"')).toHaveLength(1);
  });
});
