import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { createProduct } from '../support/program.ts';
import { openProxy, type ServiceProxy } from '../support/proxy.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import { addTestAccount, connectAccount, environment, furnish, PEOPLE, TEAM } from '../support/test-world.ts';

const MANIFEST = join(import.meta.dirname, '..', '..', 'manifest.yml');

describe('a process that is killed before it has kept an answer', () => {
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  let slackProxy: ServiceProxy;
  let serviceProxy: ServiceProxy;
  let folder: string;
  let logs: string[] = [];
  // Starts are dear: all tests have one Deckhand, and each a channel of its own.
  let channel = 'C0SHOP0';

  beforeAll(async () => {
    folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-'));
    [service, slack, slackProxy, serviceProxy] = await Promise.all([
      startSimulatedService({ speed: 20 }),
      startSlack({ app: appFromManifestFile(MANIFEST) }),
      openProxy(),
      openProxy(),
    ]);
    const { botToken } = furnish(slack);
    addTestAccount(service, undefined);
    slackProxy.target = new URL(slack.apiUrl).origin;
    serviceProxy.target = service.origin;
    const env = {
      ...environment(slack, service, botToken, folder),
      SLACK_API_URL: slack.apiUrl.replace(slackProxy.target, slackProxy.origin),
      SERVICE_BASE_URL: service.baseUrl.replace(service.origin, serviceProxy.origin),
    };
    product = createProduct(env, (line) => logs.push(line));
    await restart();
    await connectAccount(slack);
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slackProxy.close(), serviceProxy.close(), slack.stop(), service.stop()]);
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    channel = `C0SHOP${Number(channel.at(-1)) + 1}`;
    slack.addChannel(TEAM, { id: channel, name: channel.toLowerCase(), members: Object.values(PEOPLE) });
    logs = [];
    service.requests.clear();
  });

  async function restart(): Promise<void> {
    slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
  }

  /** Lets the answer be given but never arrive, kills the process that waits for it, and starts it again. */
  async function killBefore(
    proxy: ServiceProxy,
    isIt: (path: string, body: string) => boolean,
    act: () => Promise<unknown>,
  ): Promise<void> {
    const held = new Promise<void>((resolve) => {
      proxy.change = (body, path) => {
        if (!isIt(path, body)) return body;
        resolve();
        return new Promise<string>(() => undefined);
      };
    });
    await act();
    await held;
    await product.kill();
    proxy.change = (body) => body;
    await restart();
  }

  const roots = () => slack.messages(TEAM, channel);
  const made = (path: string) =>
    service.requests.all.filter((one) => one.method === 'POST' && one.path.endsWith(path));
  const counted = (event: string) => logs.filter((line) => line.includes(`"event":"${event}"`));
  const blocks = (at: number) => JSON.stringify(roots()[at]?.blocks ?? '');
  const isRoot = (path: string, body: string) => path.endsWith('/chat.postMessage') && body.includes(channel);

  async function order(name: string): Promise<void> {
    const ann = slack.as(TEAM, PEOPLE.admin);
    const shows = (words: string) =>
      slack.until(() => JSON.stringify(ann.openView()?.content ?? '').includes(words), { what: words });
    await ann.command(channel, '/deckhand server add billing-api');
    await shows('"block_id":"subdomain"');
    await ann.submit('server.add', { name, subdomain: `${name}-front` });
    await shows('Create this server?');
    await ann.submit('server.add');
  }

  it('to the order of a server follows that server, which it finds by its name, and orders none twice', async () => {
    const isOrder = (path: string, body: string) =>
      /\/servers(?:\.json)?$/.test(path) && !body.startsWith('[');
    await killBefore(serviceProxy, isOrder, () => order('shop'));
    await slack.until(() => roots()[0]?.text.includes('*shop* in *Billing API*'), { what: 'the root' });
    service.clock.advance(10_000);
    await slack.until(() => roots()[0]?.text.includes('active'), { what: 'the server to be active' });
    expect(made('/servers')).toHaveLength(1);
    expect(counted('request_uncertain')).toHaveLength(1);
    const said = [...slack.ephemerals(TEAM, PEOPLE.admin), ...slack.dms(TEAM, PEOPLE.admin)];
    expect(JSON.stringify(said)).not.toContain('not known');
  });

  it('to the root message of a server counts it, and says on the second that a first may stand above', async () => {
    await killBefore(slackProxy, isRoot, () => order('kiosk'));
    await slack.until(() => roots().length === 2, { what: 'the second root' });
    expect(made('/servers')).toHaveLength(1);
    expect(blocks(1)).toContain('An earlier copy may stand above');
    expect(counted('delivery_uncertain').join()).toContain(roots()[1]?.client_msg_id);
  });

  it.each([
    ['digest', 'digest add daily 09:00 UTC'],
    ['watch', 'watch storefront failures --hours 9-18'],
  ])('to the card of a new %s sets it up once', async (noun, line) => {
    slack.invite(TEAM, channel, 'bot');
    const type = (words: string) => slack.as(TEAM, PEOPLE.admin).command(channel, `/deckhand ${words}`);
    await killBefore(slackProxy, isRoot, () => type(line));
    await slack.until(() => roots().length === 2, { what: 'the second card' });
    const [id] = /`\w{4}`/.exec(roots()[0]?.text ?? '') ?? [];
    expect(id).toBeDefined();
    expect(roots()[1]?.text).toContain(id);
    await type(`${noun} list all`);
    await slack.until(() => roots().length === 3, { what: 'the list' });
    expect(roots()[2]?.text).toBe(`1 ${noun} of this workspace`);
  });

  it('to the root message of a workflow’s test counts it, and says so on the second, to its end', async () => {
    await killBefore(slackProxy, isRoot, async () => {
      slack.runFunction(TEAM, 'test_access', { project: 'storefront', channel });
    });
    await slack.until(() => roots()[1]?.text.includes('2 of 2'), { what: 'the second root' });
    expect(blocks(1)).toContain('An earlier copy may stand above');
    expect(counted('delivery_uncertain').join()).toContain(roots()[1]?.client_msg_id);
    expect(made('/test_access')).toHaveLength(1);
  });

  it('to the start of a test run counts that it may run twice, and says so', async () => {
    const isStart = (path: string) => /\/test_access(?:\.json)?$/.test(path);
    await killBefore(serviceProxy, isStart, () =>
      slack.as(TEAM, PEOPLE.member).command(channel, '/deckhand test storefront'),
    );
    await slack.until(() => roots()[0]?.text.includes('2 of 2'), { what: 'the run to end' });
    expect(roots()).toHaveLength(1);
    expect(made('/test_access')).toHaveLength(2);
    expect(counted('request_uncertain')).toHaveLength(1);
    expect(blocks(0)).toContain('the service may run it twice');
  });
});
