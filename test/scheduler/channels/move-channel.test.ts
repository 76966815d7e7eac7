import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Recovery } from '../../../src/records/recoveries.ts';
import { moveChannel } from '../../../src/scheduler/channels/move-channel.ts';
import { sayThere } from '../../support/asking.ts';
import { failingDatabase } from '../../support/failing-database.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { deploy as deployRevision } from '../channel.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const OTHER = 'C0BILLING';
const SHARED = 'C0SHARED';

let world: DigestWorld;
beforeEach(async () => {
  world = await openDigestWorld();
  world.slack.invite(TEAM, OTHER, 'bot');
});
afterEach(() => world.stop());

const workspace = () => world.app.workspaces.open(TEAM);
let deployments = 0;
const deploy = (succeeded: boolean, project = 'storefront') =>
  deployRevision(world, `ref${++deployments}`, { succeeded, project });
const say = (line: string, where = CHANNEL) => sayThere(world, line, where);
const roots = (where: string) =>
  world.slack
    .messages(TEAM, where)
    .filter(({ text }) => /^(Failure of )?Storefront(:| has| is failing| recovered| closed)/.test(text));
const root = (where: string) => roots(where).at(-1);
const shown = (where: string) => JSON.stringify(root(where)?.blocks ?? []);
const thread = (where: string) =>
  world.slack.thread(TEAM, where, root(where)?.ts ?? '').map(({ text }) => text);
const press = (where: string, verb: string) =>
  world.as('member').click({ channel: where, ts: root(where)?.ts ?? '' }, { actionId: `episode:${verb}` });
const until = (check: () => boolean | Promise<boolean>) => world.passUntil(check);

/** Every kind of thing that a channel has. */
async function setUp(): Promise<void> {
  for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? []) user.billing = true;
  await say('use storefront');
  for (const line of [
    'watch storefront failures --mention @bea --after 15m',
    'digest add daily 09:00 UTC last_7_days',
    'guard add storefront hourly UTC',
    'invoices notify here',
  ])
    await say(line);
  deploy(false);
  await until(() => root(CHANNEL) !== undefined);
}

const SHOPS = ['shop1', 'shop2', 'shop3', 'shop4', 'shop5', 'shop6'];
const outages = (where: string) =>
  world.slack.messages(TEAM, where).filter(({ text }) => text.includes('6 projects of acme'));
const outage = (where: string) => outages(where)[0];

/** Six projects whose deployments fail at once. */
async function failTogether(): Promise<void> {
  for (const name of SHOPS)
    world.service.world.addProject({ account: ACCOUNT, name, permalink: name, servers: [{ name: 'web-1' }] });
  await say('watch all failures');
  for (const name of SHOPS) deploy(false, name);
  await until(() => outage(CHANNEL) !== undefined);
}

/** Collections that remember the past alone. */
const PAST: ReadonlySet<string> = new Set(['audit', 'channel-ids', 'deliveries']);

/** Names of other collections of which a document still has the channel's id. */
function findLeft(channel: string): string[] {
  const path = world.config.STORE_URL.slice('sqlite://'.length);
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const rows = database.prepare('SELECT key, value FROM keyv').all();
  database.close();
  const left = rows.filter(({ key, value }) => `${key} ${value}`.includes(channel));
  const names = left.map(({ key }) => String(key).split('/')[1] ?? '');
  return [...new Set(names)].filter((name) => !PAST.has(name));
}

it('moves each kind of document that names a channel', () => {
  const shapes = readFileSync(join(import.meta.dirname, '../../releases/shapes.txt'), 'utf8').split('\n\n');
  const naming = shapes.filter((shape) => shape.startsWith('collection') && /\bchannel\b/.test(shape));
  const names = naming.map((shape) => /^collection ([\w-]+)/.exec(shape)?.[1]);
  // Questions to admins are direct messages. The plan of a form is of use for a day.
  const others = ['access-requests', 'audit', 'channel-ids', 'setups'];
  expect(
    names.filter((name) => !others.includes(name ?? '')),
    'A new collection names a channel: move its documents in src/scheduler/channels/.',
  ).toEqual([
    'channel-cards',
    'episodes',
    'feeds',
    'followed-servers',
    'outages',
    'pushes',
    'recoveries',
    'removed-schedules',
    'runs',
    'schedules',
    'server-orders',
    'waiting',
  ]);
});

describe('a channel that gets a new id', () => {
  const change = async (from: string, to: string) => {
    world.slack.changeChannelId(TEAM, from, to);
    await until(() =>
      world.logs.filter((line) => line.includes('"event":"channel_moved"')).some((line) => line.includes(to)),
    );
    await world.untilIdle();
  };

  it('keeps what is set up, and its failure goes on in the same message', async () => {
    await setUp();
    await press(CHANNEL, 'claim');
    await until(() => shown(CHANNEL).includes('is on it'));
    const { ts } = root(CHANNEL) ?? {};
    await change(CHANNEL, SHARED);
    expect(findLeft(CHANNEL)).toEqual([]);

    deploy(false);
    await until(() => root(SHARED)?.text.includes('2 deployments failed') === true);
    await leaveFailure(world, 'release', { who: 'member', channel: SHARED, ts: root(SHARED)?.ts ?? '' });
    await until(() => thread(SHARED).some((text) => text.includes('Nobody is on it after 15 min')));
    deploy(true);
    await until(() => root(SHARED)?.text.includes('recovered') === true);
    expect(roots(SHARED).map((one) => one.ts)).toEqual([ts]);

    await world.as('admin').command(SHARED, '/deckhand digest preview');
    const answers = () =>
      world.slack
        .ephemerals(TEAM, PEOPLE.admin)
        .map(({ text }) => text)
        .join('\n');
    await until(() => answers().includes('Deployment digest'));
    await until(() =>
      world.slack.messages(TEAM, SHARED).some(({ text }) => text.includes('Deployment digest')),
    );
    const recoveries = await workspace().store.collection('recoveries', Recovery).list();
    expect(recoveries.map(({ doc }) => doc.channel)).toEqual([SHARED]);
  });

  it('goes on with an outage in the same message', async () => {
    await failTogether();
    const { ts } = outage(CHANNEL) ?? {};
    await change(CHANNEL, SHARED);
    expect(findLeft(CHANNEL)).toEqual([]);
    await world.as('member').click({ channel: SHARED, ts: ts ?? '' }, { actionId: 'episode:claim' });
    await until(() => JSON.stringify(outage(SHARED)?.blocks).includes('is on all of it'));
    for (const name of SHOPS) deploy(true, name);
    await until(() => outage(SHARED)?.text.includes('recovered') === true);
    expect(outages(SHARED).map((one) => one.ts)).toEqual([ts]);
  });

  it('shows the end of a test that was under way', async () => {
    await say('test storefront');
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('Storefront')),
    );
    world.slack.changeChannelId(TEAM, CHANNEL, SHARED);
    const run = () => world.slack.messages(TEAM, SHARED).find(({ text }) => text.includes('reachable'));
    await until(() => run() !== undefined);
    expect(world.slack.messages(TEAM, SHARED)).toHaveLength(1);
  });

  it('loses nothing if the database fails amid the move', async () => {
    await setUp();
    const database = failingDatabase(world);
    let from = CHANNEL;
    for (const [number, collection] of ['channels', 'episodes', 'failures', 'feeds', 'schedules'].entries()) {
      const to = `${SHARED}${number}`;
      database.refuse('keyv', `/${collection}/`);
      world.slack.changeChannelId(TEAM, from, to);
      await until(async () => ((await world.app.parts.engine.stats()).events?.later ?? 0) > 0);
      database.accept();
      await until(() =>
        world.logs.some((line) => line.includes('"event":"channel_moved"') && line.includes(to)),
      );
      await world.untilIdle();
      expect(findLeft(from)).toEqual([]);
      from = to;
    }
    deploy(false);
    await until(() => root(from)?.text.includes('2 deployments failed') === true);
    expect(roots(from)).toHaveLength(1);
    expect((await workspace().schedules.all()).map((one) => [one.kind, one.channel])).toEqual(
      ['digest', 'guard', 'watch', 'invoices'].map((kind) => [kind, from]),
    );
  });
});

describe('what moves to another channel', () => {
  const move = () => moveChannel(workspace(), CHANNEL, OTHER, { settings: true });

  it('goes on there, and an open failure with its owner gets a message there', async () => {
    await setUp();
    await press(CHANNEL, 'claim');
    await until(() => shown(CHANNEL).includes('is on it'));
    await move();
    await until(() => root(OTHER) !== undefined);
    await until(() => root(CHANNEL)?.text.includes('no longer followed here') === true);
    expect(shown(OTHER)).toContain(`<@${PEOPLE.member}> is on it`);
    expect((await workspace().schedules.all()).map((one) => one.channel)).toEqual([
      OTHER,
      OTHER,
      OTHER,
      OTHER,
    ]);
    expect(await workspace().channels.get(OTHER)).toMatchObject({ project: { permalink: 'storefront' } });
    expect(await workspace().channels.get(CHANNEL)).toEqual({});

    deploy(true);
    await until(() => root(OTHER)?.text.includes('recovered') === true);
    await world.pass(HOUR);
    expect([roots(CHANNEL).length, roots(OTHER).length]).toEqual([1, 1]);
  });

  it('counts its failure once, though the move is repeated after a kill', async () => {
    await setUp();
    await move();
    await until(() => root(OTHER) !== undefined);
    await until(() => root(CHANNEL)?.text.includes('no longer followed here') === true);
    await move();
    deploy(true);
    await until(() => root(OTHER)?.text.includes('recovered') === true);
    const recoveries = await workspace().store.collection('recoveries', Recovery).list();
    expect(recoveries.filter(({ doc }) => doc.channel === OTHER)).toHaveLength(1);
  });

  it('shows an outage there in one message, and ends the one here', async () => {
    await failTogether();
    await move();
    await until(() => outage(OTHER) !== undefined);
    await until(() => outage(CHANNEL)?.text.includes('closed') === true);
    for (const name of SHOPS) deploy(true, name);
    await until(() => outage(OTHER)?.text.includes('recovered') === true);
    expect([outages(CHANNEL).length, outages(OTHER).length]).toEqual([1, 1]);
    expect(world.slack.messages(TEAM, OTHER).filter(({ text }) => text.startsWith('shop'))).toEqual([]);
  });

  it('keeps a watch and a failure that the other channel has already, and posts no event twice', async () => {
    await say('watch storefront failures');
    await say('watch storefront failures', OTHER);
    await say('watch billing-api all');
    deploy(false);
    await until(() => root(OTHER) !== undefined && root(CHANNEL) !== undefined);
    await move();
    await until(() => root(CHANNEL)?.text.includes('no longer followed here') === true);
    deploy(true, 'billing-api');
    const billing = () =>
      world.slack.messages(TEAM, OTHER).filter(({ text }) => text.includes(' succeeded. Billing API: '));
    await until(() => billing().length > 0);
    await world.pass(5 * MINUTE);
    expect([roots(OTHER).length, billing().length]).toEqual([1, 1]);
    const watches = await workspace().schedules.list('watch');
    expect(watches.map(({ project, channel }) => `${project?.permalink} in ${channel}`).toSorted()).toEqual([
      `billing-api in ${OTHER}`,
      `storefront in ${OTHER}`,
    ]);
  });

  it('leaves the restrictions of admins, which its own schedules then meet there', async () => {
    await say('watch storefront failures');
    await workspace().channels.change(CHANNEL, (current) => ({ ...current, commands: ['watch'] }));
    await workspace().channels.change(OTHER, () => ({ commands: ['test'] }));
    await move();
    expect(await workspace().channels.get(CHANNEL)).toEqual({ commands: ['watch'] });
    await until(async () => {
      const [watch] = await workspace().schedules.list('watch');
      return watch?.state.kind === 'paused' && watch.state.cause === 'channel';
    });
  });

  it('stays if the other channel has no room', async () => {
    await say('watch storefront failures');
    const { schedules } = workspace();
    const [watch] = await schedules.list('watch');
    if (watch === undefined) throw new Error('there is no watch');
    for (let number = 0; number < 50; number += 1)
      await schedules.put({ ...watch, id: `w${number}`, channel: OTHER, account: `other${number}` });
    await expect(move()).rejects.toThrow('This channel has 50 schedules');
    expect((await schedules.get('watch', watch.id))?.channel).toBe(CHANNEL);
  });
});
