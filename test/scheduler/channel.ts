import { isCard, sayThere } from '../support/asking.ts';
import { test as base } from '../support/fixtures.ts';
import {
  ACCOUNT,
  CHANNEL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
  type TestWorldOptions,
} from '../support/test-world.ts';

/** A world that is connected, with Deckhand in two channels. It reads the feed again at once. */
export const test = base
  .extend('worldOptions', (): TestWorldOptions => ({ env: { NOTICE_INTERVAL_MS: '100' } }))
  .extend('world', async ({ worldOptions }, { onCleanup }) => {
    const world = await openTestWorld({ connected: true, ...worldOptions });
    onCleanup(() => world.stop());
    for (const channel of [CHANNEL, OTHER]) world.slack.invite(TEAM, channel, 'bot');
    return world;
  });

export const OTHER = 'C0BILLING';

export const roots = ({ slack }: TestWorld, channel = CHANNEL) => slack.messages(TEAM, channel);
export const texts = (world: TestWorld, channel = CHANNEL) => roots(world, channel).map(({ text }) => text);
/** Messages of the channel, with the lines in the threads of its cards. */
export const shown = (world: TestWorld, channel = CHANNEL) =>
  JSON.stringify([...roots(world, channel), ...lines(world, channel)]);
export const dms = ({ slack }: TestWorld) => slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

export const untilShown = (world: TestWorld, words: string, channel = CHANNEL) =>
  world.slack.until(() => shown(world, channel).includes(words), { what: words });

/** Replies to the latest message, or to another. */
export const thread = (world: TestWorld, ts = roots(world).at(-1)?.ts ?? '') =>
  world.slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);

/** The channel's cards, the latest last. */
export const cards = (world: TestWorld, channel = CHANNEL) => roots(world, channel).filter(isCard);

/** The lines in the threads of the channel's cards. */
export const lines = (world: TestWorld, channel = CHANNEL) =>
  cards(world, channel).flatMap(({ ts }) => world.slack.thread(TEAM, channel, ts));

/** Messages that are no card of the channel, and no line of its thread that the channel gets too. */
export const news = (world: TestWorld, channel = CHANNEL) =>
  roots(world, channel).filter(
    (message) => !isCard(message) && !/> (?:paused|removed) the watch/.test(message.text),
  );

/** Sends a command of the admin. Returns the answer, text and blocks as JSON. */
export async function say(world: TestWorld, line: string, channel = CHANNEL): Promise<string> {
  return JSON.stringify(await sayThere(world, line, channel));
}

/** Clicks a button, by default of the latest private answer that has it, else of the latest message of the channel. */
export function press(
  world: TestWorld,
  actionId: string,
  { who = 'admin', ts }: { who?: keyof typeof PEOPLE; ts?: string } = {},
) {
  const answer = world.slack
    .ephemerals(TEAM, PEOPLE[who])
    .findLast(({ blocks }) => JSON.stringify(blocks).includes(`"${actionId}"`));
  const latest = answer ?? roots(world).at(-1);
  return world.as(who).click({ channel: CHANNEL, ts: ts ?? latest?.ts ?? '' }, { actionId });
}

interface Deployment {
  project?: string;
  succeeded?: boolean;
  servers?: string[];
}

export function deploy({ service }: TestWorld, endRef: string, deployment: Deployment = {}): void {
  const { project = 'storefront', ...more } = deployment;
  service.world.addDeployment({ account: ACCOUNT, project, endRef, user: 'Kim', ...more });
}

/** From the next test on a server of the project cannot be reached, or can again. */
export function breakServer({ service }: TestWorld, server: string, status: 'ok' | 'error' = 'error'): void {
  const outcome = { status, message: 'Connection refused' };
  service.world.setOutcome({ account: ACCOUNT, project: 'storefront', server, ...outcome });
}

/** Resolves when the feed was read again, and nothing more of it is to come. */
export async function polls({ service }: TestWorld, amount = 3): Promise<void> {
  for (let poll = 0; poll < amount; poll += 1)
    await service.requests.next(({ path }) => path.endsWith('/activity'));
}
