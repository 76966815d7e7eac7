import { postId } from '../../src/slack/web.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import type { Site } from './site.ts';

const MINUTE_MS = 60_000;
const BILLING = 'C0BILLING';
const POLLED = { NOTICE_INTERVAL_MS: '100' };

export const ann = ({ slack }: Site) => slack.as(TEAM, PEOPLE.admin);
export const times = (texts: readonly string[], words: string): number =>
  texts.filter((text) => text.includes(words)).length;

/** Types a command that sets something up, and waits for the channel's answer. */
async function setUp(site: Site, line: string, channel = CHANNEL): Promise<void> {
  await ann(site).command(channel, `/deckhand ${line}`);
  await site.slack.until(() => posts(site, channel).length > 0, { what: line });
}

/** Requests of the service that order something. */
export const made = ({ service }: Site, path: string, words = ''): number =>
  service.requests.all.filter(
    (one) =>
      one.method === 'POST' &&
      one.path.includes(path) &&
      `${one.path} ${JSON.stringify(one.body)}`.includes(words),
  ).length;

/** Messages of a channel and their threads. */
export function posts({ slack }: Site, channel: string): string[] {
  const roots = slack.messages(TEAM, channel);
  return [...roots, ...roots.flatMap(({ ts }) => slack.thread(TEAM, channel, ts))].map(({ blocks, text }) =>
    JSON.stringify([text, blocks]),
  );
}

/** The id of the first schedule in a card. */
export function idIn(card: string): string {
  return /\\"id\\+":\\+"(\w+)/.exec(card)?.[1] ?? '';
}

export const watch: Act = {
  name: 'watch',
  env: POLLED,
  setUp: (site) => setUp(site, 'watch all'),
  async ask({ service }, n) {
    service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endRef: `r${1000 + n}x` });
    return true;
  },
  seen: (site, n) => times(posts(site, CHANNEL), `r${1000 + n}x`),
};

/** A deployment that the service calls about. What a kill loses of a call, a poll finds. */
export const push: Act = {
  ...watch,
  name: 'push',
  env: (origin) => ({ PUBLIC_URL: origin, NOTICE_INTERVAL_MS: '400' }),
  async setUp(site) {
    await setUp(site, 'watch storefront all');
    const answers = () => site.slack.ephemerals(TEAM, PEOPLE.admin);
    const offer = () => {
      const answer = answers().findLast(({ blocks }) => JSON.stringify(blocks).includes('watch:push#'));
      const [actionId] = /watch:push#\w+/.exec(JSON.stringify(answer?.blocks)) ?? [];
      return answer && actionId && { ts: answer.ts, actionId };
    };
    const { ts, actionId } = await site.slack.until(offer, { what: 'the offer' });
    await ann(site).click({ channel: CHANNEL, ts }, { actionId });
    await site.slack.until(() => ann(site).openView() !== undefined, { what: 'the question' });
    await ann(site).submit('watch.push', {});
    const isOn = () => answers().some(({ text }) => text.includes('tells of deployments within seconds'));
    await site.slack.until(isOn, { what: 'the answer' });
  },
};

/**
 * Two failures and a success, each once what came before can be seen, or after a while. The project is one that no other
 * time has, because a failure soon after a recovery goes on in its message.
 */
export const episode: Act = {
  name: 'episode',
  env: POLLED,
  isAlone: true,
  setUp: (site) => setUp(site, 'watch all failures'),
  prepare: endOutage,
  async ask(site, n) {
    const deploy = (succeeded: boolean, at: number): void =>
      void site.service.world.addDeployment({
        account: ACCOUNT,
        project: `shop${n}x`,
        succeeded,
        endRef: `e${n * 10 + at + 10_000}`,
      });
    const isShown = (words: string) => () => rootsOf(site, n).some(({ text }) => text.includes(words));
    deploy(false, 1);
    await site.slack.until(isShown('failed'), { timeoutMs: 2_000 }).catch(() => undefined);
    deploy(false, 2);
    await site.slack.until(isShown('2 deployments failed'), { timeoutMs: 2_000 }).catch(() => undefined);
    deploy(true, 3);
    return true;
  },
  // A root that a kill posted again keeps one of its two as it was.
  seen: (site, n) => rootsOf(site, n).filter(({ text }) => text.includes('recovered')).length,
  done: (site, n) => new Set(rootsOf(site, n).map(({ client_msg_id: name }) => name)).size,
};

/** Five projects that fail within minutes would be one message. */
function endOutage(site: Site): Promise<void> {
  return site.moveTo(site.now() + 31 * MINUTE_MS);
}

/** The messages in the channel of the outage of this time. */
function rootsOf({ slack }: Site, n: number) {
  const failures = [1, 2].map((at) => `e${n * 10 + at + 10_000}`);
  return slack
    .messages(TEAM, CHANNEL)
    .filter(({ blocks }) => failures.some((name) => JSON.stringify(blocks).includes(name)));
}

/** Fails a deployment of a project that no other time has. */
function failShop({ service }: Site, n: number): void {
  const shop = { account: ACCOUNT, project: `shop${n}x` };
  service.world.setOutcome({ ...shop, server: 'web-1', status: 'error', message: 'Connection refused' });
  service.world.addDeployment({ ...shop, succeeded: false, endRef: `d${10_000 + n}` });
}

function failingShop({ slack }: Site, n: number) {
  const isMeant = ({ text }: { text: string }): boolean => text.startsWith(`Shop${n}x: the deployment`);
  return slack.messages(TEAM, CHANNEL).filter(isMeant);
}

/** Six projects that fail together, in one message, which ends with the last. */
export const outage: Act = {
  name: 'outage',
  env: POLLED,
  isAlone: true,
  setUp: (site) => setUp(site, 'watch all failures'),
  async prepare(site, n) {
    await endOutage(site);
    for (const name of listOutage(n))
      site.service.world.addProject({
        account: ACCOUNT,
        name,
        permalink: name,
        servers: [{ name: 'web-1' }],
      });
  },
  async ask(site, n) {
    const deploy = (succeeded: boolean): void => {
      for (const project of listOutage(n))
        site.service.world.addDeployment({ account: ACCOUNT, project, succeeded, endRef: `o${10_000 + n}` });
    };
    const isWhole = () => outagesOf(site, n).some(({ text }) => text.startsWith('6 projects'));
    deploy(false);
    await site.slack.until(isWhole, { timeoutMs: 2_000 }).catch(() => undefined);
    deploy(true);
    return true;
  },
  seen: (site, n) => outagesOf(site, n).filter(({ text }) => text.includes('recovered after')).length,
  done: (site, n) => new Set(outagesOf(site, n).map(({ client_msg_id: name }) => name)).size,
};

function listOutage(n: number): string[] {
  return ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `out${n}${letter}`);
}

function outagesOf({ slack }: Site, n: number) {
  return slack.messages(TEAM, CHANNEL).filter(({ blocks }) => JSON.stringify(blocks).includes(`out${n}a`));
}

/** A failed deployment, whose message says that its server cannot be reached, and whose thread has the details. */
export const diagnosis: Act = {
  name: 'diagnosis',
  env: POLLED,
  isAlone: true,
  setUp: (site) => setUp(site, 'watch all failures'),
  prepare: endOutage,
  async ask(site, n) {
    failShop(site, n);
    return true;
  },
  seen(site, n) {
    const explained = failingShop(site, n).filter(({ blocks, ts }) => {
      const hasDetails = site.slack.thread(TEAM, CHANNEL, ts).some(({ text }) => text.includes('web-1'));
      return hasDetails && JSON.stringify(blocks).includes('web-1 cannot be reached: Connection refused');
    });
    return explained.length;
  },
  word: (n) => `shop${n}x`,
  // The service logs a project by its permalink.
  done: (site, n) => made(site, `/projects/shop${n}x/test_access`),
};

/** The mention of a failure that nobody is on, five minutes after its message. */
export const escalation: Act = {
  name: 'escalation',
  env: POLLED,
  isAlone: true,
  async setUp(site) {
    const group = { id: 'S0ONCALL', name: 'oncall', handle: 'oncall', users: [] };
    site.slack.workspace(TEAM).userGroups.set(group.id, group);
    await setUp(site, 'watch all failures --mention <!subteam^S0ONCALL|@oncall> --after 5m');
  },
  async prepare(site, n) {
    failShop(site, n);
    // By then its mention is planned, which a clock that moves meanwhile would put off.
    await site.slack.until(() => diagnosis.seen(site, n) === 1, { what: 'the failure and its diagnosis' });
    await site.moveTo(site.now() + 5 * MINUTE_MS);
  },
  ask: async () => true,
  seen: (site, n) => mentionsOf(site, n).length,
  done: (site, n) => new Set(mentionsOf(site, n).map(({ client_msg_id: name }) => name)).size,
};

function mentionsOf(site: Site, n: number) {
  const all = failingShop(site, n).flatMap(({ ts }) => site.slack.thread(TEAM, CHANNEL, ts));
  return all.filter(({ text }) => text.includes('<!subteam^S0ONCALL>'));
}

const numbers = new Map<number, number>();
export const notice: Act = {
  name: 'invoice notice',
  env: POLLED,
  async setUp(site) {
    site.slack.invite(TEAM, BILLING, 'bot');
    await setUp(site, 'invoices notify here', BILLING);
  },
  async ask({ service }, n) {
    numbers.set(n, service.world.addInvoice({ account: ACCOUNT }).number);
    return true;
  },
  seen: (site, n) => times(posts(site, BILLING), `PDF of ${numbers.get(n)}`),
};

let id = '';
const occurrences = new Map<number, number>();
export const digest: Act = {
  name: 'digest',
  isAlone: true,
  async setUp(site) {
    await setUp(site, 'digest add cron:"* * * * *" UTC today');
    id = idIn(posts(site, CHANNEL)[0] ?? '');
  },
  async prepare(site, n) {
    const occurrence = Math.ceil(site.now() / MINUTE_MS + 0.1) * MINUTE_MS;
    occurrences.set(n, occurrence);
    await site.moveTo(occurrence);
  },
  ask: async () => true,
  seen({ slack }, n) {
    const name = postId(TEAM, `digest ${id} ${occurrences.get(n)}`);
    return slack.messages(TEAM, CHANNEL).filter(({ client_msg_id: known }) => known === name).length;
  },
};
