import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { byLength } from '../support/length.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  ACCOUNT,
  addTestAccount,
  CHANNEL,
  connectAccount,
  EMAIL,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/test-world.ts';

const BILLING = 'C0BILLING';
const KILLS = byLength(1, 15);
const EVENTS_A_LIFE = 12;

describe('a process that watches and is killed', () => {
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  const logs: string[] = [];

  beforeEach(async () => {
    service = await startSimulatedService({ speed: 20 });
    slack = await startSlack();
    const { botToken } = furnish(slack);
    for (const channel of [CHANNEL, BILLING]) slack.invite(TEAM, channel, 'bot');
    addTestAccount(service, undefined);
    const user = service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
    Object.assign(user ?? {}, { billing: true });
    const env = environment(slack, service, botToken, await temporaryFolder());
    product = createProduct({ ...env, NOTICE_INTERVAL_MS: '50' }, (line) => logs.push(line));
    await restart();
    await connectAccount(slack);
  });
  afterEach(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  });

  async function restart(): Promise<void> {
    const port = await product.start();
    slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
  }

  async function type(channel: string, line: string): Promise<void> {
    const before = slack.messages(TEAM, channel).length;
    await slack.as(TEAM, PEOPLE.admin).command(channel, line);
    await slack.until(() => slack.messages(TEAM, channel).length > before, { what: line });
  }

  function posts(channel: string): SeenMessage[] {
    const roots = slack.messages(TEAM, channel);
    return [...roots, ...roots.flatMap(({ ts }) => slack.thread(TEAM, channel, ts))];
  }

  /** How often each of these words is told in posts that are not one sent again. */
  function told(channel: string, words: readonly string[]): number[] {
    const once = new Map(posts(channel).map((post) => [post.client_msg_id ?? post.ts, post.blocks]));
    const all = JSON.stringify([...once.values()]);
    return words.map((word) => all.split(word).length - 1);
  }

  /** Posts that stand twice, because a kill came between Slack's answer and the record of it. */
  function doubled(channel: string): number {
    const all = posts(channel).map((post) => post.client_msg_id);
    return all.length - new Set(all).size;
  }

  it('tells every event and invoice of all its lives, each once', async () => {
    await type(CHANNEL, '/deckhand watch all');
    await type(BILLING, '/deckhand invoices notify here');
    const refs: string[] = [];
    const numbers: string[] = [];
    for (let life = 0; life < KILLS; life += 1) {
      for (let at = 0; at < EVENTS_A_LIFE; at += 1) {
        const ref = `r${1000 + refs.length}x`;
        refs.push(ref);
        service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endRef: ref });
        if (at % 4 > 0) continue;
        const { number } = service.world.addInvoice({ account: ACCOUNT });
        numbers.push(`PDF of ${number}`);
        // Between a look, a record and a post, wherever this life is by then.
        const polled = (life + at / 4) % 2 === 0 ? '/activity' : '/invoices';
        await service.requests.next(({ path }) => path.endsWith(polled));
      }
      await product.kill();
      await restart();
    }
    const counts = () => [...told(CHANNEL, refs), ...told(BILLING, numbers)];
    await slack.until(() => counts().every((times) => times > 0), {
      what: 'all to be told',
    });
    expect(counts()).toEqual([...refs, ...numbers].map(() => 1));
    const uncertain = logs.filter((line) => line.includes('"event":"possible_duplicate"')).length;
    expect(doubled(CHANNEL) + doubled(BILLING)).toBeLessThanOrEqual(uncertain);
    expect(slack.dms(TEAM, PEOPLE.admin)).toEqual([]);
  });
});
