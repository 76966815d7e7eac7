import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { type DigestWorld, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const GROUP = '<!subteam^S0ONCALL|@oncall>';

describe('who must wake', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
    const group = { id: 'S0ONCALL', name: 'oncall', handle: 'oncall', users: [] };
    world.slack.workspace(TEAM).userGroups.set(group.id, group);
  });
  afterEach(() => world.stop());

  const deploy = (succeeded: boolean, servers = ['web-1']) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded,
      endedAt: world.time.now(),
      endRef: `ref${world.time.now() % 1e7}`,
      user: 'Kim',
      servers,
    });
  const messages = () => world.slack.messages(TEAM, CHANNEL);
  const roots = () =>
    messages().filter(({ text, subtype }) => subtype === undefined && /^Storefront[: ]/.test(text));
  const root = () => roots()[0];
  const woken = () =>
    messages()
      .filter(({ subtype }) => subtype === 'thread_broadcast')
      .map(({ text }) => text);
  const thread = () => world.slack.thread(TEAM, CHANNEL, root()?.ts ?? '').map(({ text }) => text);
  const mentions = () => thread().filter((text) => text.includes('<!subteam'));
  const until = (words: string) => world.passUntil(() => root()?.text.includes(words) === true);

  async function fail(): Promise<void> {
    await world.say(`watch storefront failures --mention ${GROUP} --after 15m`);
    deploy(false);
    await until('the deployment to web-1 failed at');
  }
  async function claim(): Promise<void> {
    await world.as('member').click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'episode:claim' });
    await until(`<@${PEOPLE.member}> is on it`);
  }

  it('of a project that flaps five times in an hour: the channel once, in one message', async () => {
    await fail();
    const ordinals = ['second', 'third', 'fourth', 'fifth'];
    for (const ordinal of ordinals) {
      await world.pass(5 * MINUTE);
      deploy(true);
      await until('Storefront recovered after');
      await world.pass(5 * MINUTE);
      deploy(false);
      await until(
        `Storefront is failing again, the ${ordinal} time within an hour: the deployment to web-1 failed at`,
      );
    }
    expect(roots()).toHaveLength(1);
    expect(woken()).toEqual([
      expect.stringContaining('Storefront is failing again, the second time within an hour'),
    ]);
    await world.pass(16 * MINUTE);
    expect(mentions(), 'which began again').toHaveLength(1);
    deploy(true);
    await until('recovered after');
    expect(root()?.text).toContain('It failed 5 times within an hour.');
    await world.pass(10 * MINUTE);
    deploy(false);
    await until('is failing again');
    expect(woken(), 'more than an hour after the first').toHaveLength(2);
    deploy(true);
    await until('recovered after');
    await world.pass(31 * MINUTE);
    deploy(false);
    await world.passUntil(() => roots().length === 2);
  });

  it('if another server joins: the channel, and the group although somebody is on it', async () => {
    await fail();
    await claim();
    await world.pass(60 * MINUTE);
    expect(mentions()).toEqual([]);
    deploy(false, ['web-1', 'web-2']);
    await world.passUntil(() => woken().length > 0);
    expect(woken()).toEqual([expect.stringContaining('Storefront: the deployment to web-2 failed too')]);
    await world.passUntil(() => mentions().length > 0);
    expect(mentions()).toEqual([expect.stringContaining(`<@${PEOPLE.member}> is on it, but it got worse`)]);
    deploy(false, ['web-2']);
    await until('3 deployments failed');
    await world.pass(60 * MINUTE);
    expect(woken(), 'as it failed before').toHaveLength(1);
    expect(mentions()).toHaveLength(1);
  });

  it('if a guard finds another server unreachable: the channel and the group', async () => {
    const breakServer = (server: string) => {
      const outcome = { status: 'error', message: 'Connection refused' } as const;
      world.service.world.setOutcome({ account: ACCOUNT, project: 'storefront', server, ...outcome });
    };
    await world.say(`guard add storefront hourly --mention ${GROUP} --after 15m`);
    breakServer('web-1');
    await until('web-1 is unreachable since');
    await world.pass(20 * MINUTE);
    expect(mentions()).toHaveLength(1);
    breakServer('web-2');
    await until('web-1 and web-2 are unreachable since');
    await world.passUntil(() => mentions().length === 2);
    expect(woken()).toEqual(['Storefront: web-2 is unreachable too. Both servers are unreachable.']);
    await world.pass(70 * MINUTE);
    expect(woken(), 'as it failed before').toHaveLength(1);
  });

  it('not if a server joins that the channel does not follow, which no message names', async () => {
    await world.say('watch storefront failures --server web-1');
    const start = messages().length;
    deploy(false);
    await until('the deployment to web-1 failed at');
    deploy(false, ['web-1', 'web-2']);
    await until('2 deployments failed');
    deploy(true, ['web-1', 'web-2']);
    await until('recovered after');
    await world.passUntil(() => thread().some((text) => text.includes('Recovered')));
    expect(woken()).toEqual([]);
    const shown = JSON.stringify([
      messages().slice(start),
      world.slack.thread(TEAM, CHANNEL, root()?.ts ?? ''),
    ]);
    expect(shown).toContain('on web-1');
    expect(shown).not.toContain('web-2');
  });

  it('if another server joins, and somebody says again that they are on it: the channel alone', async () => {
    await fail();
    await claim();
    deploy(false, ['web-2']);
    await world.passUntil(() => woken().length > 0);
    await world.as('member').click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'episode:claim' });
    await world.passUntil(() => thread().filter((text) => text.includes('is on it')).length === 2);
    await world.pass(60 * MINUTE);
    expect(mentions()).toEqual([]);
  });

  it('if a person pauses or removes the watch: the channel, also where it has no threads', async () => {
    await fail();
    await world.say('watch pause storefront');
    await world.passUntil(() => thread().some((text) => text.includes('paused a watch of this failure.')));
    expect(woken()).toEqual([
      expect.stringContaining(
        `<@${PEOPLE.admin}> paused the watch of Storefront in acme (failures, mentions @oncall after 15 min). Still failing: Storefront`,
      ),
    ]);
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    await world.say('unwatch storefront');
    const isTold = (text: string): boolean => text.includes(`<@${PEOPLE.admin}> removed the watch of`);
    await world.passUntil(() =>
      messages().some(({ text, subtype }) => subtype === undefined && isTold(text)),
    );
  });
});
