import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActivityFeed } from '../../../src/records/feeds.ts';
import { moveChannel } from '../../../src/scheduler/channels/move-channel.ts';
import { postSuccesses } from '../../../src/scheduler/schedules/post-successes.ts';
import { ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { OTHER } from '../channel.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

describe('successful deployments', () => {
  let world: DigestWorld;
  let start = 0;
  beforeEach(async () => {
    world = await openDigestWorld();
    await world.say('watch all all');
    start = world.slack.messages(TEAM, CHANNEL).length;
  });
  afterEach(() => world.stop());

  const place = { channel: CHANNEL, account: ACCOUNT };
  const workspace = () => world.app.workspaces.open(TEAM);
  const deploy = (endRef: string, { succeeded = true, user = 'Kim', project = 'storefront' } = {}) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project,
      succeeded,
      endedAt: world.time.now(),
      endRef,
      user,
      servers: project === 'storefront' ? ['web-1'] : [],
    });
  const messages = (channel = CHANNEL) =>
    world.slack.messages(TEAM, channel).slice(channel === CHANNEL ? start : 0);
  const draw = (channel = CHANNEL) => messages(channel).map((one) => JSON.stringify([one.text, one.blocks]));
  const until = (words: string, channel = CHANNEL) =>
    world.passUntil(() => draw(channel).some((one) => one.includes(words)));
  const changeFeed = (change: (feed: ActivityFeed) => ActivityFeed) =>
    workspace().feeds.update('watch', place, (feed) => feed && change(feed));

  it('of two hours are one message, edited with a line each', async () => {
    deploy('first01');
    await until('first01');
    await world.pass(HOUR);
    deploy('second1', { project: 'billing-api' });
    await until('second1');
    expect(messages()).toHaveLength(1);
    expect(draw()[0]).toMatch(/projects\/storefront\|\*Storefront\*>: `first01` on web-1 by Kim, <!date/);
    expect(draw()[0]).toMatch(/projects\/billing-api\|\*Billing API\*>: `second1` by Kim, <!date/);
    expect(messages()[0]?.text).toMatch(/^2 deployments succeeded\. Storefront: first01 on web-1 by Kim, /);
    expect(world.slack.thread(TEAM, CHANNEL, messages()[0]?.ts ?? '')).toEqual([]);
    await world.pass(HOUR);
    deploy('third01');
    await until('third01');
    expect(messages()).toHaveLength(2);
    expect(draw()[1]).not.toContain('second1');
  });

  it('have their day if the service tells of them late', async () => {
    const endedAt = world.time.now() - 30 * HOUR;
    const late = { account: ACCOUNT, project: 'storefront', endRef: 'late001', user: 'Kim', endedAt };
    world.service.world.addDeployment(late);
    deploy('today01');
    await until('late001');
    await until('today01');
    expect(draw().join()).toMatch(/`late001` [^`]*<!date\^\d+\^\{date_short_pretty\} at \{time\}/);
    expect(draw().join()).toMatch(/`today01` [^`]*<!date\^\d+\^\{time\}/);
  });

  it('are told to a phone and a screen reader in whole rows, with how many more', async () => {
    const name = 'The shop with a name of more than thirty characters';
    world.service.world.addProject({ account: ACCOUNT, name, permalink: 'long', servers: [] });
    for (let at = 10; at < 30; at += 1) deploy(`ref00${at}`, { project: 'long' });
    await until('ref0029');
    const { text = '' } = messages()[0] ?? {};
    const rows = text.match(/: ref00\d\d by Kim, <!date[^>]*>\./g) ?? [];
    expect(rows.length).toBeGreaterThan(5);
    expect(text).toMatch(new RegExp(` And ${20 - rows.length} more\\.$`));
  });

  it('are at most 20 lines in a message', async () => {
    for (let at = 10; at < 35; at += 1) deploy(`ref00${at}`);
    await until('ref0034');
    const lines = draw().map((one) => new Set(one.match(/ref00\d\d/g)).size);
    expect(lines).toEqual([20, 5]);
    deploy('another');
    await until('another');
    expect(messages()).toHaveLength(2);
  });

  it('are in a message of their own beside other news and failures', async () => {
    deploy('passed1');
    deploy('failed1', { succeeded: false, project: 'billing-api' });
    const [project] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const made = { project: project?.identifier ?? '', properties: { servers: ['shop'] } };
    world.service.world.addEvent({ account: ACCOUNT, event: 'server_created', ...made, user: 'Kim' });
    await world.passUntil(() => messages().length === 3);
    expect(draw().filter((one) => one.includes('passed1'))).toEqual([
      expect.stringContaining('1 deployment succeeded'),
    ]);
  });

  it('come once if Deckhand is killed between two steps, and if two processes post them', async () => {
    deploy('first01');
    await until('first01');
    deploy('second1');
    await until('second1');
    const feed = await workspace().feeds.get('watch', place);
    const [before] = feed?.successes?.messages ?? [];
    if (before === undefined) throw new Error('there is no message');
    // It was posted, and that was not noted.
    const { ts: _, ...unnoted } = before;
    const pending = { id: 'b1', at: 0, replies: [], successes: ['third01'], what: '1 event', for: [] };
    await changeFeed((current) => ({
      ...current,
      pending: [pending],
      successes: { batches: [], messages: [{ ...unnoted, visible: 0 }] },
    }));
    await world.restart(async () => undefined);
    const post = () => postSuccesses(workspace(), place, undefined);
    await Promise.all([post(), post(), post()]);
    await until('third01');
    expect(messages()).toHaveLength(1);
    expect(draw()[0]?.match(/third01/g)).toHaveLength(2);
    expect(draw()[0]).toContain('second1');
  });

  it('go on in a new message if somebody deleted the last one, without its lines', async () => {
    deploy('first01');
    await until('first01');
    await workspace().slack.call('chat.delete', { channel: CHANNEL, ts: messages()[0]?.ts ?? '' });
    deploy('second1');
    await until('second1');
    deploy('third01');
    await until('third01');
    expect(messages()).toHaveLength(1);
    expect(draw()[0]).toContain('second1');
    expect(draw()[0]).not.toContain('first01');
  });

  it('are replies if Slack refuses the edit', async () => {
    deploy('first01');
    await until('first01');
    world.slack.fault({ method: 'chat.update', error: 'edit_window_closed' });
    deploy('second1');
    const thread = () => JSON.stringify(world.slack.thread(TEAM, CHANNEL, messages()[0]?.ts ?? ''));
    await world.passUntil(() => thread().includes('second1'));
    expect(thread()).not.toContain('first01');
    expect(messages()).toHaveLength(1);
  });

  it('begin a new message in the channel that everything moved to', async () => {
    world.slack.invite(TEAM, OTHER, 'bot');
    deploy('first01');
    await until('first01');
    await moveChannel(workspace(), CHANNEL, OTHER, { settings: true });
    deploy('second1');
    await until('second1', OTHER);
    expect(draw(OTHER).join()).not.toContain('first01');
    expect(draw().join()).not.toContain('second1');
  });

  it('mention nobody who did not ask for it, and failures do', async () => {
    const mention = `<@${PEOPLE.member}>`;
    deploy('before0');
    await until('before0');
    await ask(world, '/deckhand me Kim');
    deploy('first01');
    await until('first01');
    expect(draw()[0]).toContain('by Kim');
    expect(draw()[0]).not.toContain(mention);
    deploy('failed1', { succeeded: false });
    await until('failed1');
    expect(draw()[1]).toContain(`by ${mention}`);
    deploy('mended1');
    await until('recovered after');
    expect(draw()[1]).toContain('`mended1` by Kim');
    expect(await ask(world, '/deckhand me --all')).toContain('*Kim* does something in `acme`.');
    deploy('second1');
    await until('second1');
    expect(draw()[0]).toContain(`\`second1\` on web-1 by ${mention}`);
  });

  it('and failures name, without a mention, who gets direct messages', async () => {
    deploy('before0');
    await until('before0');
    await ask(world, '/deckhand me Kim --all');
    await ask(world, '/deckhand watch mine');
    deploy('failed1', { succeeded: false });
    await until('failed1');
    await world.passUntil(() => world.slack.dms(TEAM, PEOPLE.member).length > 0);
    deploy('mended1');
    await until('recovered after');
    deploy('second1');
    await until('second1');
    expect(draw().join()).toContain('by Kim');
    expect(draw().join()).not.toContain(`<@${PEOPLE.member}>`);
    await ask(world, '/deckhand unwatch mine');
    await world.pass(40 * MINUTE);
    deploy('failed2', { succeeded: false });
    await until('failed2');
    expect(draw().at(-1)).toContain(`by <@${PEOPLE.member}>`);
  });
});
