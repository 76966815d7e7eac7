import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { channelQuiets, listQuiets } from '../../../src/records/quiets.ts';
import { moveChannel } from '../../../src/scheduler/channels/move-channel.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/change-episodes.ts';
import { QUIET_ENDS } from '../../../src/scheduler/episodes/queues.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { breakServer, deploy as deployRevision, OTHER } from '../channel.ts';
import { DAY, type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const GROUP = '<!subteam^S0ONCALL|@oncall>';

describe('a quiet channel', () => {
  let world: DigestWorld;
  let start = 0;
  afterEach(() => world.stop());

  async function open(at = '2026-03-06T17:00:00Z'): Promise<void> {
    world = await openDigestWorld(at, { env: { NOTICE_INTERVAL_MS: String(2 * MINUTE) } });
    const group = { id: 'S0ONCALL', name: 'oncall', handle: 'oncall', users: [] };
    world.slack.workspace(TEAM).userGroups.set(group.id, group);
    await world.app.workspaces
      .open(TEAM)
      .channels.change(CHANNEL, (current) => ({ ...current, zone: 'UTC' }));
    await command(`watch all all --mention ${GROUP} --after 15m`);
    await world.untilIdle();
    start = messages().length;
  }
  const workspace = () => world.app.workspaces.open(TEAM);
  let deployments = 0;
  const deploy = (succeeded: boolean, project = 'storefront') =>
    deployRevision(world, `ref${++deployments}`, { succeeded, project });
  const messages = (channel = CHANNEL) => world.slack.messages(TEAM, channel);
  const fresh = () => messages().slice(start);
  const texts = () => fresh().map(({ text }) => text);
  const all = (channel = CHANNEL) =>
    messages(channel).flatMap(({ ts, text }) => [
      text,
      ...world.slack.thread(TEAM, channel, ts).map((reply) => reply.text),
    ]);
  const mentions = () => all().filter((text) => text.includes('<!subteam^S0ONCALL'));
  const until = (words: string) => world.passUntil(() => texts().some((text) => text.includes(words)));
  const find = (words: string) => fresh().find(({ text }) => text.includes(words));
  const summaries = () => texts().filter((text) => text.includes('While it was quiet'));
  const quiets = async () => (await channelQuiets(workspace().store).get(CHANNEL))?.quiets ?? [];
  /** A command whose private answer is read. */
  const command = (line: string, who: keyof typeof PEOPLE = 'admin') => {
    const act = () => world.as(who).command(CHANNEL, `/deckhand ${line}`);
    return line.startsWith('quiet') || line.startsWith('mute') ? answerTo(world, who, act) : act();
  };
  /** Begins a quiet; what it tells the channel is no news. */
  async function makeQuiet(line: string, who: keyof typeof PEOPLE = 'admin'): Promise<string> {
    const answer = await answerTo(world, who, () => world.as(who).command(CHANNEL, `/deckhand ${line}`));
    await world.passUntil(() => all().some((text) => text.includes('quiet')));
    return answer;
  }

  describe('over a weekend', () => {
    beforeEach(() => open());

    it('hears nothing, and is told at its end what failed, what recovered and what still fails', async () => {
      expect(await makeQuiet('quiet until monday')).toContain('Everything is quiet here until');
      const before = messages().length;
      await world.pass(HOUR);
      deploy(false);
      deploy(false, 'billing-api');
      await world.pass(30 * MINUTE);
      deploy(true);
      await world.pass(HOUR);
      expect(messages()).toHaveLength(before);
      expect(mentions()).toEqual([]);
      await world.restart(async () => undefined);
      world.time.jump(2 * DAY + 10 * HOUR);
      await world.pass(4 * HOUR, () => summaries().length > 0);
      expect(new Date(world.time.now()).toISOString()).toMatch(/^2026-03-09T0[89]:/);
      expect(summaries()).toEqual([
        expect.stringMatching(
          /^While it was quiet: 2 projects failed, 1 recovered\. Still failing: Billing API since <!date/,
        ),
      ]);
      expect(messages()).toHaveLength(before + 1);
      expect(await quiets()).toEqual([]);
      // Mentions count from the end.
      await world.pass(10 * MINUTE);
      expect(mentions()).toEqual([]);
      await world.pass(10 * MINUTE);
      expect(mentions()).toHaveLength(1);
      const ts = find('While it was quiet')?.ts ?? '';
      await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'episode:claim' });
      await world.passUntil(
        () => find('While it was quiet')?.text.includes(`<@${PEOPLE.member}> is on it`) === true,
      );
      deploy(true, 'billing-api');
      await world.passUntil(() => find('While it was quiet')?.text.includes('recovered after') === true);
      expect(messages()).toHaveLength(before + 1);
    });

    it('shows a recovery on Saturday on the message that exists, and says nothing more', async () => {
      deploy(false);
      await until('the deployment');
      const ts = find('the deployment')?.ts ?? '';
      await makeQuiet('quiet until monday storefront');
      await world.passUntil(() => JSON.stringify(find('the deployment')).includes('Quiet here until'));
      const before = messages().length;
      world.time.jump(20 * HOUR);
      await world.pass(30 * MINUTE);
      expect(mentions()).toEqual([]);
      const replies = world.slack.thread(TEAM, CHANNEL, ts).length;
      deploy(true);
      await until('Storefront recovered after');
      world.time.jump(2 * DAY);
      await world.pass(5 * MINUTE);
      expect(await quiets()).toEqual([]);
      expect(messages()).toHaveLength(before);
      expect(world.slack.thread(TEAM, CHANNEL, ts)).toHaveLength(replies);
      expect(summaries()).toEqual([]);
    });

    it('is told once of a project whose deployments and guard both fail', async () => {
      breakServer(world, 'web-2');
      await command('guard add storefront hourly');
      await until('web-2 is unreachable since');
      deploy(false);
      await until('the deployment');
      await makeQuiet('quiet until 20:00 storefront');
      await world.pass(4 * HOUR, () => summaries().length > 0);
      expect(summaries()[0]?.match(/Storefront since/g)).toHaveLength(1);
    });

    it('is told of a failure that was there before, and still is', async () => {
      deploy(false);
      await until('the deployment');
      await makeQuiet('quiet until 20:00 storefront');
      deploy(false, 'billing-api');
      await until('Billing API: the deployment');
      await world.pass(4 * HOUR, () => summaries().length > 0);
      expect(summaries()[0]).toContain('nothing more failed. Still failing: Storefront since');
      await world.pass(20 * MINUTE);
      expect(mentions().filter((text) => text.includes('Still failing: Storefront'))).toHaveLength(1);
      expect(await ask(world, '/deckhand claim storefront')).toContain('You are on Storefront');
      const list = await ask(world, '/deckhand failing', 'admin');
      expect(list).not.toContain('While it was quiet');
      expect(list).toMatch(/Storefront: the deployment .*U0BEN.*Take over/);
      expect(await ask(world, '/deckhand claim over storefront', 'admin')).toContain('You are on Storefront');
    });

    it('is told of five and more as of one outage, and of deployments and servers together', async () => {
      const names = ['shop1', 'shop2', 'shop3', 'shop4'];
      for (const name of names)
        world.service.world.addProject({
          account: ACCOUNT,
          name,
          permalink: name,
          servers: [{ name: 'web-1' }],
        });
      await makeQuiet('quiet for 1h');
      for (const name of names) deploy(false, name);
      const subject = {
        kind: 'reachability',
        channel: CHANNEL,
        account: ACCOUNT,
        project: 'p',
        name: 'Guarded',
      } as const;
      const item = { key: 'server:1', title: 'web-9', message: 'Connection refused' };
      const failure = { kind: 'failure' as const, id: 'f1', at: world.time.now() };
      await noteOutcomes(workspace(), subject, [{ ...failure, lines: ['web-9'], items: [item] }]);
      const before = messages().length;
      await world.pass(2 * HOUR, () => summaries().length > 0);
      await world.untilIdle();
      expect(summaries()).toEqual([
        expect.stringMatching(
          /^While it was quiet: 5 projects failed\. 5 projects of acme are failing since/,
        ),
      ]);
      expect(summaries()[0]).toContain('Guarded: web-9 is unreachable');
      expect(messages()).toHaveLength(before + 1);
    });

    it('is told of an outage that has its message already, with a button to take it', async () => {
      const names = ['shop1', 'shop2', 'shop3', 'shop4', 'shop5'];
      for (const name of names)
        world.service.world.addProject({ account: ACCOUNT, name, permalink: name, servers: [{ name: 'w' }] });
      for (const name of names) deploy(false, name);
      await until('5 projects of acme are failing');
      await world.pass(15 * MINUTE);
      await makeQuiet('quiet for 1h');
      await world.pass(2 * HOUR, () => summaries().length > 0);
      const draw = (words: string) => JSON.stringify(find(words)?.blocks);
      expect(draw('While it was quiet')).toContain('I’m on all of it');
      const summary = { channel: CHANNEL, ts: find('While it was quiet')?.ts ?? '' };
      const actionId = /episode:claim#[^"]*/.exec(draw('While it was quiet'))?.[0] ?? '';
      await world.as('member').click(summary, { actionId });
      await world.passUntil(() => !draw('While it was quiet').includes('I’m on all of it'));
      await world.passUntil(() => draw('are failing since').includes('is on all of it'));
    });

    it('is told who is on what still fails, and offers to take over from them', async () => {
      deploy(false);
      await until('the deployment');
      const root = { channel: CHANNEL, ts: find('the deployment')?.ts ?? '' };
      await world.as('member').click(root, { actionId: 'episode:claim' });
      await until('the deployment');
      await world.passUntil(() => JSON.stringify(find('the deployment')?.blocks).includes('Take over'));
      await makeQuiet('quiet for 1h');
      await world.pass(2 * HOUR, () => summaries().length > 0);
      const shown = JSON.stringify(find('While it was quiet')?.blocks);
      expect(shown).toContain(`<@${PEOPLE.member}> is on it`);
      expect(shown).toContain('Take over');
      expect(shown).not.toContain('I’m on it');
    });

    it.each(['quiet off', 'quiet off storefront', 'unmute'])(
      '"%s" changes nothing if nothing is quiet',
      async (line) => {
        const answer = await answerTo(world, 'admin', () =>
          world.as('admin').command(CHANNEL, `/deckhand ${line}`),
        );
        expect(answer).toContain('Nothing is quiet here.');
        expect(await quiets()).toEqual([]);
      },
    );

    it('names what is quiet if another project is not', async () => {
      await makeQuiet('quiet for 1h storefront');
      const answer = await command('quiet off billing-api');
      expect(answer).toContain('*Billing API* is not quiet here. Try `/deckhand quiet`');
    });

    it('is quiet alone: no other channel and no other workspace is', async () => {
      world.slack.invite(TEAM, OTHER, 'bot');
      await world.as('admin').command(OTHER, '/deckhand watch all failures');
      await world.slack.until(() => messages(OTHER).length > 0);
      await makeQuiet('quiet until monday');
      deploy(false);
      await world.passUntil(() => messages(OTHER).some(({ text }) => text.includes('the deployment')));
      expect(texts().filter((text) => text.includes('the deployment'))).toEqual([]);
      const elsewhere = world.app.workspaces.open('T0ELSEWHERE');
      expect(await listQuiets(elsewhere.store, CHANNEL, world.time.now())).toEqual([]);
    });

    it('tells the channel in the thread of its card, and posts nothing else', async () => {
      const roots = () => messages().filter(({ ts, thread_ts: thread = ts }) => thread === ts);
      const [card, ...others] = roots();
      await makeQuiet('quiet until monday');
      await world.passUntil(() => all().some((text) => text.includes('made everything here quiet')));
      expect(roots().map(({ ts }) => ts)).toEqual([card, ...others].map((one) => one?.ts));
      const told = messages().filter(({ subtype }) => subtype === 'thread_broadcast');
      expect(told.map(({ text }) => text)).toEqual([
        expect.stringContaining(`<@${PEOPLE.admin}> made everything here quiet until`),
      ]);
      expect(told[0]?.thread_ts).toBe(card?.ts);
    });

    it('cannot be made quiet if admins switched that off there', async () => {
      await workspace().channels.change(CHANNEL, (current) => ({ ...current, commands: ['watch'] }));
      expect(await command('quiet')).toContain('`quiet` is switched off in this channel');
      expect(await quiets()).toEqual([]);
    });

    it('hears again if somebody ends it, once for two clicks', async () => {
      const answer = await makeQuiet('quiet until monday');
      expect(answer).toContain('quiet:end');
      const isOnCard = () =>
        messages().some(({ blocks }) => JSON.stringify(blocks).includes('is quiet here until'));
      await world.passUntil(isOnCard);
      deploy(false);
      await world.pass(5 * MINUTE);
      const seen = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
      const end = () =>
        world.as('admin').click({ channel: CHANNEL, ts: seen?.ts ?? '' }, { actionId: 'quiet:end' });
      await Promise.all([end(), end()]);
      await world.passUntil(() => summaries().length > 0);
      await world.pass(10 * MINUTE);
      expect(summaries()).toEqual([
        expect.stringContaining('1 project failed. Still failing: Storefront since'),
      ]);
      expect(isOnCard()).toBe(false);
      deploy(false, 'billing-api');
      await until('Billing API: the deployment');
    });

    it('ends with the last watch, without a word', async () => {
      await makeQuiet('quiet until monday');
      deploy(false);
      await world.pass(5 * MINUTE);
      await command('unwatch all');
      await world.passUntil(async () => (await quiets()).length === 0);
      world.time.jump(3 * DAY);
      await world.pass(5 * MINUTE);
      expect(summaries()).toEqual([]);
      expect(texts().filter((text) => text.startsWith('Storefront'))).toEqual([]);
    });

    it('moves with everything else, and ends there', async () => {
      world.slack.invite(TEAM, OTHER, 'bot');
      await makeQuiet('quiet until monday');
      deploy(false);
      await world.pass(5 * MINUTE);
      await moveChannel(workspace(), CHANNEL, OTHER, { settings: true });
      await world.pass(5 * MINUTE);
      const there = () => messages(OTHER).map(({ text }) => text);
      expect(there().filter((text) => text.includes('Storefront'))).toEqual([]);
      world.time.jump(3 * DAY);
      await world.pass(HOUR, () => there().some((text) => text.includes('While it was quiet')));
      expect(there().filter((text) => text.includes('While it was quiet'))).toHaveLength(1);
      expect(summaries()).toEqual([]);
    });

    it('says nothing more if Deckhand is killed amid its end', async () => {
      await makeQuiet('quiet for 1h');
      deploy(false);
      await world.pass(5 * MINUTE);
      const before = await channelQuiets(workspace().store).get(CHANNEL);
      await world.pass(HOUR, () => summaries().length > 0);
      await world.untilIdle();
      // The message was posted, and that was not noted.
      if (before === undefined) throw new Error('there is no quiet');
      const [quiet] = before.quiets;
      if (quiet === undefined) throw new Error('there is no quiet');
      const endedAt = Number(/after quiet \S+ (\d+)/.exec(JSON.stringify(fresh()))?.[1]);
      await channelQuiets(workspace().store).put(CHANNEL, { quiets: [{ ...quiet, endedAt }] });
      await world.restart(async () => undefined);
      await workspace().jobs.send(QUIET_ENDS, { channel: CHANNEL, id: quiet.id, at: endedAt });
      await world.passUntil(async () => (await quiets()).length === 0);
      await world.pass(5 * MINUTE);
      expect(summaries()).toHaveLength(1);
    });
  });

  it('is quiet until the right hour when the clocks change', async () => {
    await open('2026-03-28T20:00:00Z');
    await workspace().channels.change(CHANNEL, (current) => ({ ...current, zone: 'Europe/Lisbon' }));
    await makeQuiet('quiet until 8:00');
    // On 29 March, eight o'clock in Lisbon is seven in UTC.
    expect((await quiets()).map(({ until: at }) => new Date(at).toISOString())).toEqual([
      '2026-03-29T07:00:00.000Z',
    ]);
    await makeQuiet('quiet until tuesday 9:30');
    expect((await quiets()).map(({ until: at }) => new Date(at).toISOString())).toEqual([
      '2026-03-31T08:30:00.000Z',
    ]);
  });

  it('is quiet for less than a minute too', async () => {
    await open('2026-03-06T16:58:00Z');
    world.time.jump(MINUTE + 30_000);
    expect(await makeQuiet('quiet until 17:00')).toContain('Everything is quiet here until');
  });

  describe('for members', () => {
    beforeEach(() => open());

    it('is quiet for an hour, and longer only for whoever is on the failure', async () => {
      const refusal = await command('quiet for 2h storefront', 'member');
      expect(refusal).toContain('`/deckhand quiet for 1h storefront`');
      expect(refusal).toContain(`ask <@${PEOPLE.admin}>`);
      expect(await quiets()).toEqual([]);
      expect(await makeQuiet('quiet storefront', 'member')).toContain('*Storefront* is quiet here until');
      const [first] = await quiets();
      expect((first?.until ?? 0) - world.time.now()).toBeLessThanOrEqual(HOUR);
      expect(await command('quiet', 'billing')).toContain(`by <@${PEOPLE.member}>`);
      await command('quiet off', 'member');
      await world.passUntil(async () => (await quiets()).length === 0);

      deploy(false);
      await until('the deployment');
      const root = () => find('the deployment');
      expect(JSON.stringify(root()?.blocks)).toContain('Quiet until Monday');
      const press = (actionId: string, words?: string) => {
        const options = (
          JSON.stringify(root()?.blocks).match(/"value":"((?:episode|quiet):[^}]*})"/g) ?? []
        ).map((one) => JSON.parse(`{${one}}`).value as string);
        const selected = options.find((one) => words !== undefined && one.includes(words)) ?? '';
        return world.as('member').click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId, selected });
      };
      expect(await answerTo(world, 'member', () => press('episode:more', '"monday"'))).toContain(
        'Members can make a channel quiet for an hour',
      );
      await press('episode:claim');
      await until(`<@${PEOPLE.member}> is on it`);
      await press('episode:more', '"monday"');
      await world.passUntil(() => JSON.stringify(root()?.blocks).includes('Quiet here until'));
      expect(JSON.stringify(root()?.blocks)).toContain('End now');
      expect(JSON.stringify(root()?.blocks)).not.toContain('Quiet until Monday');
      const told = messages().filter(({ subtype }) => subtype === 'thread_broadcast');
      expect(told.map(({ text }) => text)).toEqual([
        expect.stringContaining(`<@${PEOPLE.member}> made Storefront quiet until`),
        expect.stringContaining(`<@${PEOPLE.member}> made this quiet here until`),
      ]);
      await press('episode:more', 'quiet:end');
      await world.passUntil(() => summaries().length > 0);
      await world.passUntil(() => !JSON.stringify(root()?.blocks).includes('Quiet here until'));
    });

    it.each([
      ['quiet until never', 'is not a time'],
      ['quiet for 40 days', 'at most 14 days'],
      ['quiet shopfront', 'There is no project'],
    ])('answers "%s" with the next step', async (line, words) => {
      expect(await command(line)).toContain(words);
      expect(await quiets()).toEqual([]);
    });
  });

  it('that follows nothing is told so', async () => {
    world = await openDigestWorld();
    expect(await ask(world, '/deckhand quiet', 'admin')).toContain('No watch or guard posts anything here');
  });
});
