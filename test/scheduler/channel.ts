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
  .extend('worldOptions', (): TestWorldOptions => ({ env: { NOTICE_INTERVAL_MS: '40' } }))
  .extend('world', async ({ worldOptions }, { onCleanup }) => {
    const world = await openTestWorld({ connected: true, ...worldOptions });
    onCleanup(() => world.stop());
    for (const channel of [CHANNEL, OTHER]) world.slack.invite(TEAM, channel, 'bot');
    return world;
  });

export const OTHER = 'C0BILLING';

export const roots = ({ slack }: TestWorld, channel = CHANNEL) => slack.messages(TEAM, channel);
export const texts = (world: TestWorld, channel = CHANNEL) => roots(world, channel).map(({ text }) => text);
export const shown = (world: TestWorld, channel = CHANNEL) => JSON.stringify(roots(world, channel));
export const dms = ({ slack }: TestWorld) => slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

export const untilShown = (world: TestWorld, words: string, channel = CHANNEL) =>
  world.slack.until(() => shown(world, channel).includes(words), { what: words });

/** Replies to the latest message, or to another. */
export const thread = (world: TestWorld, ts = roots(world).at(-1)?.ts ?? '') =>
  world.slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);

/** Messages that are no card of a watch, and no answer about one. */
export const news = (world: TestWorld, channel = CHANNEL) =>
  roots(world, channel).filter(({ text }) => !/now hears|the watch of/.test(text));

/** Sends a command of the admin. Returns the channel's answer, text and blocks as JSON. */
export async function say(world: TestWorld, line: string, channel = CHANNEL): Promise<string> {
  const before = roots(world, channel).length;
  await world.as('admin').command(channel, `/deckhand ${line}`);
  await world.slack.until(() => roots(world, channel).length > before, { what: `an answer to ${line}` });
  return JSON.stringify(roots(world, channel).at(-1));
}

/** Clicks the button of a message of the channel, by default of the latest. */
export function press(
  world: TestWorld,
  actionId: string,
  { who = 'admin', ts = roots(world).at(-1)?.ts ?? '' }: { who?: keyof typeof PEOPLE; ts?: string } = {},
) {
  return world.as(who).click({ channel: CHANNEL, ts }, { actionId });
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
