import { describe, expect, it, onTestFinished } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
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

/** So often a process is told to end, each time at a moment of its own. */
const MOMENTS = byLength(0, 20);
/** The longest until the next, in milliseconds. */
const MAX_PAUSE_MS = 1_500;
/** Between two commands, in milliseconds: a process that ends acknowledges them faster than the next carries them out. */
const PACE_MS = 400;
const CHANNELS = Array.from({ length: 8 }, (_, at) => `C0SHOPS${at}`);
/** How long the service keeps work under way; what outlasts the grace is drain.test.ts’s. */
const DELAYS_MS = [150, 150, 600, 2_000, 8_000];

describe.runIf(MOMENTS > 0).each([
  ['SQLite', 1],
  ['two replicas on Postgres', 2],
] as const)('SIGTERM with work under way: %s', (_, replicas) => {
  it('at random moments loses nothing that was acknowledged', async () => {
    const [service, slack] = await Promise.all([startSimulatedService({ speed: 50 }), startSlack()]);
    const { botToken } = furnish(slack);
    for (const id of CHANNELS) {
      slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
      slack.invite(TEAM, id, 'bot');
    }
    const servers = [{ name: 'web-1' }];
    const shops = Array.from({ length: 1_000 }, (__, at) => ({
      name: `Shop ${at}`,
      permalink: `shop-${at}`,
      servers,
    }));
    addTestAccount(service, shops);
    const url = replicas === 1 ? {} : { STORE_URL: await freshDatabase() };
    const env = { ...environment(slack, service, botToken, await temporaryFolder()), ...url };
    const lines: string[] = [];
    const products = Array.from({ length: replicas }, () => createProduct(env, (line) => lines.push(line)));
    onTestFinished(async () => {
      await Promise.all(products.map((product) => product.kill()));
      await Promise.all([service.stop(), slack.stop()]);
    });
    const ports = new Map<Product, number>();
    const begin = async (product: Product): Promise<void> => void ports.set(product, await product.start());
    for (const product of products) await begin(product);
    const deliver = (at: number): void => {
      const all = [...ports.values()];
      slack.deliverTo(`http://127.0.0.1:${all[at % all.length]}/slack/events`);
    };
    deliver(0);
    await connectAccount(slack);

    const acknowledged: string[] = [];
    let isOver = false;
    async function keepAsking(): Promise<void> {
      const ben = slack.as(TEAM, PEOPLE.member);
      for (let at = 0; !isOver; at += 1) {
        const delayMs = DELAYS_MS[at % DELAYS_MS.length] ?? 0;
        service.faults.add({ path: `/${ACCOUNT}/projects/shop-${at}/test_access`, delayMs, times: 1 });
        deliver(at);
        const channel = CHANNELS[at % CHANNELS.length] ?? CHANNEL;
        const { outcome } = await ben.command(channel, `/deckhand test shop-${at}`);
        if (outcome === 'ok') acknowledged.push(`Shop ${at}`);
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      }
    }
    const asking = keepAsking();
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
      const product = products[moment % replicas];
      if (product === undefined) break;
      await product.stop();
      await begin(product);
    }
    isOver = true;
    await asking;

    const roots = () => CHANNELS.flatMap((channel) => slack.messages(TEAM, channel)).map(({ text }) => text);
    const open = () => {
      const all = roots();
      return acknowledged.filter(
        (shop) => !all.some((text) => text.includes(`${shop}:`) && text.includes('reachable')),
      );
    };
    await expect.poll(open, { timeout: 300_000, interval: 500 }).toEqual([]);
    const twice = roots().length - new Set(roots().map((text) => /Shop \d+/.exec(text)?.[0])).size;
    const counted = lines.filter((line) => line.includes('"event":"possible_duplicate"')).length;
    expect(twice).toBeLessThanOrEqual(counted);
    expect(lines.filter((line) => line.includes('"event":"bug"'))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(MOMENTS * 2);
  });
});
