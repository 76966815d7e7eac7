import { postId } from '../../src/slack/web.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import type { Site } from './site.ts';

const BILLING = 'C0BILLING';
const POLLED = { NOTICE_INTERVAL_MS: '100' };
const ann = ({ slack }: Site) => slack.as(TEAM, PEOPLE.admin);
const times = (texts: readonly string[], words: string): number =>
  texts.filter((text) => text.includes(words)).length;

/** Messages of a channel and their threads. */
function posts({ slack }: Site, channel: string): string[] {
  const roots = slack.messages(TEAM, channel);
  return [...roots, ...roots.flatMap(({ ts }) => slack.thread(TEAM, channel, ts))].map(({ blocks, text }) =>
    JSON.stringify([text, blocks]),
  );
}

export const watch: Act = {
  name: 'watch',
  env: POLLED,
  async setUp(site) {
    await ann(site).command(CHANNEL, '/deckhand watch all');
    await site.slack.until(() => posts(site, CHANNEL).length > 0, { what: 'the watch' });
  },
  async ask({ service }, n) {
    service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endRef: `r${1000 + n}x` });
    return true;
  },
  seen: (site, n) => times(posts(site, CHANNEL), `r${1000 + n}x`),
};

const numbers = new Map<number, number>();
export const notice: Act = {
  name: 'invoice notice',
  env: POLLED,
  async setUp(site) {
    site.slack.invite(TEAM, BILLING, 'bot');
    await ann(site).command(BILLING, '/deckhand invoices notify here');
    await site.slack.until(() => posts(site, BILLING).length > 0, { what: 'the notices' });
  },
  async ask({ service }, n) {
    numbers.set(n, service.world.addInvoice({ account: ACCOUNT }).number);
    return true;
  },
  seen: (site, n) => times(posts(site, BILLING), `PDF of ${numbers.get(n)}`),
};

let id = '';
const slots = new Map<number, number>();
export const digest: Act = {
  name: 'digest',
  isAlone: true,
  async setUp(site) {
    await ann(site).command(CHANNEL, '/deckhand digest add cron:"* * * * *" UTC today');
    const said = () => posts(site, CHANNEL).find((text) => text.includes('set up the digest'));
    await site.slack.until(() => said() !== undefined, { what: 'the digest' });
    id = /digest `(\w+)`/.exec(said() ?? '')?.[1] ?? '';
  },
  async prepare(site, n) {
    slots.set(n, await site.nextMinute());
  },
  ask: async () => true,
  seen({ slack }, n) {
    const name = postId(TEAM, `digest ${id} ${slots.get(n)}`);
    return slack.messages(TEAM, CHANNEL).filter(({ client_msg_id: known }) => known === name).length;
  },
};
