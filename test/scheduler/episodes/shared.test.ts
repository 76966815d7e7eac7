import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, sayThere } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
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
  const say = (where: string, line: string) => sayThere(world, line, where);
  const failures = (where: string) =>
    world.slack
      .messages(TEAM, where)
      .filter(({ text }) => /^(Failure of )?Storefront(:| has| is| recovered| closed)/.test(text));
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

  it('names the last good deployment of the servers that fail, until they recover', async () => {
    deploy(true);
    const { revision, at } = { revision: `ref${world.time.now() % 1e7}`.slice(0, 7), at: world.time.now() };
    await world.pass(MINUTE);
    await fail();
    const good = `Last good: \`${revision}\` by Kim, <!date^${at / 1000}^{time}|`;
    expect(shown(CHANNEL)).toContain(good);
    await world.pass(MINUTE);
    deploy(true, ['web-1']);
    await world.pass(2 * MINUTE);
    expect(shown(OTHER)).toContain(good);
    deploy(true);
    await untilBoth((where) => root(where)?.text.includes('recovered') === true);
    expect(shown(CHANNEL)).not.toContain('Last good');
  });

  it('names in each the last good deployment of the servers that the channel follows', async () => {
    const revisions: string[] = [];
    for (const server of ['web-1', 'web-2']) {
      revisions.push(`ref${world.time.now() % 1e7}`.slice(0, 7));
      deploy(true, [server]);
      await world.pass(MINUTE);
    }
    await say(CHANNEL, 'watch storefront failures --server web-1');
    await say(OTHER, 'watch storefront failures');
    deploy(false, ['web-1', 'web-2']);
    await untilBoth((where) => root(where) !== undefined);
    const good = [CHANNEL, OTHER].map((where) => /Last good: `(.*?)`/.exec(shown(where))?.[1]);
    expect(good).toEqual(revisions);
  });

  it('has one owner, who stops the mentions of both, and is once on App Home', async () => {
    await fail();
    await world.as('member').openHome();
    await click(CHANNEL, 'claim');
    await untilBoth(isOn('member'));
    expect(thread(OTHER)).toEqual([`<@${PEOPLE.member}> is on it.`]);
    await world.pass(HOUR);
    expect(mentions(OTHER)).toEqual([]);
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.passUntil(() => home().includes('is on it'));
    expect(home().match(/storefront\|Storefront>: the deployment/g)).toHaveLength(1);

    await world.restart(async () => undefined);
    await click(OTHER, 'claim', 'admin');
    await untilBoth(isOn('admin'));
    await leaveFailure(world, 'release', { ts: root(CHANNEL)?.ts ?? '' });
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
    await leaveFailure(world, 'close', { who: 'member', ts: root(CHANNEL)?.ts ?? '' });
    await untilBoth(
      (where) =>
        root(where)?.text ===
        `Failure of Storefront closed by <@${PEOPLE.member}>, not mended. 1 deployment failed.`,
    );
    deploy(false);
    await untilBoth((where) => failures(where).length === 2);
    expect([shown(CHANNEL), shown(OTHER)].join()).not.toContain('is on it');
  });

  it('has its owner in a channel that hears of it later', async () => {
    await fail();
    await click(OTHER, 'claim');
    await untilBoth(isOn('member'));
    world.slack.addChannel(TEAM, { id: 'C0LATER', name: 'later', members: Object.values(PEOPLE) });
    world.slack.invite(TEAM, 'C0LATER', 'bot');
    await say('C0LATER', 'watch storefront failures');
    deploy(false);
    await world.passUntil(() => isOn('member')('C0LATER'));
    deploy(true);
    await untilBoth((where) => root(where)?.text.includes('recovered') === true);
    await world.pass(31 * MINUTE);
    deploy(false);
    await untilBoth((where) => failures(where).length === 2 && isFree(where));
  });

  it('tells nobody the name of a channel that they may not see', async () => {
    const secret = { id: 'C0SECRET', name: 'merger-talks', is_private: true, members: [PEOPLE.admin] };
    world.slack.addChannel(TEAM, secret);
    world.slack.invite(TEAM, secret.id, 'bot');
    await say(secret.id, 'watch storefront failures');
    await fail();
    await world.passUntil(() => root(secret.id) !== undefined);
    await click(secret.id, 'claim', 'admin');
    await untilBoth(isOn('admin'));
    for (const line of ['failing', 'failing all', 'activity', 'watch list all', 'doctor'])
      await ask(world, `/deckhand ${line}`);
    await world.as('member').openHome();
    await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member) !== undefined);
    const seen = [
      ...[CHANNEL, OTHER].flatMap((channel) => world.slack.messages(TEAM, channel)),
      ...[CHANNEL, OTHER].flatMap((channel) => world.slack.thread(TEAM, channel, root(channel)?.ts ?? '')),
      ...world.slack.ephemerals(TEAM, PEOPLE.member),
      world.slack.home(TEAM, PEOPLE.member)?.content,
    ];
    expect(JSON.stringify(seen)).toContain('Storefront');
    expect(JSON.stringify(seen)).not.toContain(secret.name);
  });
});
