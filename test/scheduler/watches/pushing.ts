import { onTestFinished } from 'vitest';
import { readVersion } from '../../../src/config.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openDeckhand } from '../../../src/open.ts';
import { choose } from '../../support/failure-menu.ts';
import { freePort } from '../../support/free-port.ts';
import { ACCOUNT, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { press, say } from '../channel.ts';

export const BASE = '/bots/deckhand';
export const PORT = String(await freePort());
export const PUBLIC_URL = `http://127.0.0.1:${PORT}${BASE}`;

/** The service describes nothing there, so that Deckhand goes by the outline of the API. */
export const BY_OUTLINE = { PUBLIC_URL, PORT, SERVICE_DESCRIPTION_URL: `http://127.0.0.1:${PORT}/none.json` };

export const PUSHED = 'tells of deployments within seconds';
export const ON = [[true, true, true]];
export const OFF = [[false, false, false]];

/** The latest answer to the admin. */
export const latest = ({ slack }: TestWorld) =>
  JSON.stringify(slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.blocks);
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

/** Starts another replica on the same database. */
export async function openReplica({ config }: TestWorld) {
  const opened = await openDeckhand(
    { ...config, PORT: 0 },
    { log: createLog('silent'), version: readVersion() },
  );
  const { port } = await opened.app.start();
  onTestFinished(async () => {
    await opened.app.stop(20_000);
    await opened.close();
  });
  return { port, app: opened.app };
}

/** The answers to the admin that offer it. */
const offers = ({ slack }: TestWorld) =>
  slack.ephemerals(TEAM, PEOPLE.admin).filter(({ blocks }) => JSON.stringify(blocks).includes('watch:push'));

/** Uses the button or the menu of the latest answer that offers it, and says yes to the question. */
export async function hearWithinSeconds(world: TestWorld) {
  const ann = world.as('admin');
  const offer = offers(world).at(-1) ?? {};
  const [actionId] = /watch:push#\w+/.exec(JSON.stringify(offer)) ?? [];
  if (actionId !== undefined) await press(world, actionId);
  else await choose(world, 'watch:push ', offer);
  await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.push');
  const question = JSON.stringify(ann.openView()?.content);
  const answer = await ann.submit('watch.push', {});
  return { question, answer };
}

export async function watchPushed(world: TestWorld, permalink = 'storefront'): Promise<void> {
  const before = offers(world).length;
  await say(world, `watch ${permalink} all`);
  // After a kill, the answer to the line before may come again.
  await world.slack.until(() => offers(world).length > before, { what: 'an answer that offers it' });
  await hearWithinSeconds(world);
  await world.slack.until(() => latest(world).includes(PUSHED), { what: 'the answer' });
}
