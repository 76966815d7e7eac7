import { freePort } from '../../support/free-port.ts';
import { ACCOUNT, type TestWorld } from '../../support/test-world.ts';
import { press, roots, say } from '../channel.ts';

export const BASE = '/bots/deckhand';
export const PORT = String(await freePort());
export const PUBLIC_URL = `http://127.0.0.1:${PORT}${BASE}`;

export const PUSHED = 'tells of deployments within seconds';
export const ON = [[true, true, true]];
export const OFF = [[false, false, false]];

export const latest = (world: TestWorld) => JSON.stringify(roots(world).at(-1)?.blocks);
export const project = (world: TestWorld) => {
  const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
  if (storefront === undefined) throw new Error('no project');
  return storefront;
};
export const integrations = (world: TestWorld) => project(world).integrations;
export const hook = (world: TestWorld) => integrations(world)[0]?.properties.url ?? '';
export const flags = (world: TestWorld) =>
  integrations(world).map((one) => [one.sendOnStart, one.sendOnCompletion, one.sendOnFailure]);
export const reads = (world: TestWorld) =>
  world.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;
export const call = (url: string, body = '') => fetch(url, { method: 'POST', body });

/** Presses the button of the latest message, and says yes to the question. */
export async function hearWithinSeconds(world: TestWorld) {
  const ann = world.as('admin');
  const [actionId = ''] = /watch:push#\w+/.exec(latest(world)) ?? [];
  await press(world, actionId);
  await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.push');
  const question = JSON.stringify(ann.openView()?.content);
  const answer = await ann.submit('watch.push', {});
  return { question, answer };
}

export async function watchPushed(world: TestWorld, permalink = 'storefront'): Promise<void> {
  await say(world, `watch ${permalink} all`);
  await hearWithinSeconds(world);
  await world.slack.until(() => latest(world).includes(PUSHED), { what: 'the changed card' });
}
