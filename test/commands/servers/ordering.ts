import { createOrders, ServerOrder } from '../../../src/scheduler/servers/server-order.ts';
import { test as base } from '../../support/fixtures.ts';
import { rawJob } from '../../support/raw-job.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** Where the simulated service makes servers only as its clock is moved. */
export const test = base.extend('connected', true).extend('worldOptions', () => ({ speed: 0 }));

export const POST = { method: 'POST', path: `/${ACCOUNT}/projects/storefront/servers` } as const;
export const SITE = { name: 'shop', subdomain: 'shop-front' };

export const MACHINE = { protocol_type: 'managed_vps', name: 'box', region: 'fra1', size: 'small' };

/** Stores a confirmed order and sends its job, as an earlier process did. */
export async function sendOrder(
  { app }: TestWorld,
  requested: typeof MACHINE | (typeof SITE & { protocol_type: string; spa_mode: boolean }),
  more: Pick<ServerOrder, 'isSent' | 'created' | 'messageRef'>,
): Promise<void> {
  const draft = {
    channel: CHANNEL,
    account: ACCOUNT,
    project: { permalink: 'storefront', name: 'Storefront' },
    protocol: requested.protocol_type,
    requested,
    order: 'order-1',
  };
  const orderedAt = app.parts.clock.now();
  const order = ServerOrder.parse({ user: PEOPLE.admin, viewId: 'V0GONE', draft, orderedAt, ...more });
  await createOrders(app.workspaces.open(TEAM)).create(order);
  await app.parts.engine.send(TEAM, rawJob('add-server'), { order: draft.order }, { key: draft.order });
}

export const ann = (world: TestWorld) => world.as('admin');
export const view = (world: TestWorld) => JSON.stringify(ann(world).openView()?.content ?? {});
export const shows = (world: TestWorld, words: string) =>
  world.slack.until(() => view(world).includes(words));
export const posts = (world: TestWorld) =>
  world.service.requests.all.filter(({ method, path }) => method === 'POST' && path.endsWith('/servers'));
export const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
export const thread = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '').map(({ text }) => text);

export async function open(world: TestWorld, line = '/deckhand server add storefront'): Promise<void> {
  await ann(world).command(CHANNEL, line);
  await world.slack.until(() => ann(world).openView()?.content.callback_id === 'server.add');
}

/** Waits for the look-ups of the opened form, so that nothing is drawn anew under a test's hands. */
export async function openFilled(world: TestWorld, line?: string): Promise<void> {
  const looked = world.service.requests.next(({ path }) => path === '/profile');
  const drawn = world.slack.until(() => world.slack.calls.some(({ method }) => method === 'views.update'));
  await open(world, line);
  await looked;
  await drawn;
}

export async function confirmSite(world: TestWorld): Promise<void> {
  await openFilled(world);
  await ann(world).submit('server.add', SITE);
  await shows(world, 'Create this server?');
}
