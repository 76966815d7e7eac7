import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedFailure } from '../../../src/records/shared-failures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const OTHER = 'C0BILLING';
type Who = 'admin' | 'member' | 'billing';

describe('a failure that two channels show', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
    world.slack.invite(TEAM, OTHER, 'bot');
  });
  afterEach(() => world.stop());

  const deploy = (succeeded: boolean, servers?: string[]) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded,
      endedAt: world.time.now(),
      endRef: `ref${world.time.now() % 1e7}`,
      user: 'Kim',
      ...(servers && { servers }),
    });
  const say = async (where: string, line: string) => {
    const before = world.slack.messages(TEAM, where).length;
    await world.as('admin').command(where, `/deckhand ${line}`);
    await world.slack.until(() => world.slack.messages(TEAM, where).length > before);
  };
  const failures = (where: string) =>
    world.slack.messages(TEAM, where).filter(({ text }) => /^Storefront(:| recovered| closed)/.test(text));
  const root = (where: string) => failures(where).at(-1);
  const shown = (where: string) => JSON.stringify(root(where)?.blocks ?? []);
  const thread = (where: string) =>
    world.slack.thread(TEAM, where, root(where)?.ts ?? '').map(({ text }) => text);
  const mentions = (where: string) => thread(where).filter((text) => text.includes('Nobody is on it'));
  const click = (where: string, verb: string, who: Who = 'member') =>
    world.as(who).click({ channel: where, ts: root(where)?.ts ?? '' }, { actionId: `episode:${verb}` });
  const untilBoth = (check: (where: string) => boolean) =>
    world.passUntil(() => [CHANNEL, OTHER].every((where) => check(where)));
  const isOn = (who: Who) => (where: string) => shown(where).includes(`<@${PEOPLE[who]}> is on it`);
  const isFree = (where: string) => root(where) !== undefined && !shown(where).includes('is on it');
  async function fail(): Promise<void> {
    await say(CHANNEL, 'watch storefront failures');
    await say(OTHER, 'watch storefront failures --mention @bea --after 15m');
    deploy(false);
    await untilBoth((where) => root(where) !== undefined);
  }

  it('has one owner, who stops the mentions of both, and is once on App Home', async () => {
    await fail();
    await world.as('member').openHome();
    await click(CHANNEL, 'claim');
    await untilBoth(isOn('member'));
    expect(thread(OTHER)).toEqual([`:raising_hand: <@${PEOPLE.member}> is on it.`]);
    await world.pass(HOUR);
    expect(mentions(OTHER)).toEqual([]);
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.passUntil(() => home().includes('is on it'));
    expect(home().match(/Storefront: deployments are failing/g)).toHaveLength(1);

    await world.restart(async () => undefined);
    await click(OTHER, 'claim', 'admin');
    await untilBoth(isOn('admin'));
    await click(CHANNEL, 'release', 'admin');
    await untilBoth(isFree);
    await world.passUntil(() => mentions(OTHER).length > 0);
    expect(mentions(OTHER)[0]).toContain('Nobody is on it after 15 min.');
  });

  it('is nobody’s once its owner has left, in both', async () => {
    await fail();
    await click(CHANNEL, 'claim');
    await untilBoth(isOn('member'));
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await world.passUntil(() => mentions(OTHER).length > 0);
    await untilBoth(isFree);
  });

  it('is one person’s alone if two people take it at once, each in their channel', async () => {
    await fail();
    await Promise.all([click(CHANNEL, 'claim', 'member'), click(OTHER, 'claim', 'admin')]);
    await world.passUntil(() =>
      [isOn('member'), isOn('admin')].some((check) => check(CHANNEL) && check(OTHER)),
    );
    const [winner, loser]: [Who, Who] = isOn('member')(CHANNEL) ? ['member', 'admin'] : ['admin', 'member'];
    const told = () => world.slack.ephemerals(TEAM, PEOPLE[loser]).map(({ text }) => text);
    await world.slack.until(() => told().some((text) => text.includes(`<@${PEOPLE[winner]}> is on it.`)));
  });

  it('is closed in both, and its owner has no part in the next one', async () => {
    await fail();
    await click(CHANNEL, 'claim');
    await untilBoth(isOn('member'));
    await click(CHANNEL, 'close');
    await untilBoth((where) => root(where)?.text === `Storefront closed by <@${PEOPLE.member}> (1 failure)`);
    deploy(false);
    await untilBoth((where) => failures(where).length === 2);
    expect([shown(CHANNEL), shown(OTHER)].join()).not.toContain('is on it');
  });

  it('has its owner in a channel that hears of it later, and if it began before owners were shared', async () => {
    await fail();
    const store = world.app.workspaces.open(TEAM).store.collection('failures', SharedFailure);
    for (const { id } of await store.list()) await store.delete(id);
    await click(OTHER, 'claim');
    await untilBoth(isOn('member'));
    world.slack.addChannel(TEAM, { id: 'C0LATER', name: 'later', members: Object.values(PEOPLE) });
    world.slack.invite(TEAM, 'C0LATER', 'bot');
    await say('C0LATER', 'watch storefront failures');
    deploy(false);
    await world.passUntil(() => isOn('member')('C0LATER'));
    deploy(true);
    await untilBoth((where) => root(where)?.text.includes('recovered') === true);
    await world.pass(2 * MINUTE);
    deploy(false);
    await untilBoth((where) => failures(where).length === 2 && isFree(where));
  });
});
