import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { deploy as deployRevision } from '../channel.ts';
import { type DigestWorld, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const OTHER = 'C0BILLING';
const GROUP = '<!subteam^S0ONCALL|@oncall>';
const NAMES = Array.from({ length: 20 }, (_, at) => `shop${String(at + 1).padStart(2, '0')}`);

/** As many as an outage needs, and some more. */
const SOME = NAMES.slice(0, 8);

describe('an outage of many projects', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld(undefined, { env: { NOTICE_INTERVAL_MS: '20000' } });
    world.slack.invite(TEAM, OTHER, 'bot');
    const group = { id: 'S0ONCALL', name: 'oncall', handle: 'oncall', users: [] };
    world.slack.workspace(TEAM).userGroups.set(group.id, group);
    for (const name of NAMES)
      world.service.world.addProject({
        account: ACCOUNT,
        name,
        permalink: name,
        servers: [{ name: 'web-1' }],
      });
  });
  afterEach(() => world.stop());

  const deploy = (project: string, succeeded: boolean) =>
    deployRevision(world, `ref${project}`, { project, succeeded });
  const breakServer = (project: string, status: 'ok' | 'error') =>
    world.service.world.setOutcome({
      account: ACCOUNT,
      project,
      server: 'web-1',
      status,
      message: 'Connection refused',
    });
  const messages = (channel = CHANNEL) =>
    world.slack
      .messages(TEAM, channel)
      .filter(({ text }) => /^(?:Failure of )?(?:shop\d+(?::| has| recovered)|\d+ project)/.test(text));
  const outages = (channel = CHANNEL) =>
    messages(channel).filter(({ text }) => /\d+ projects? of acme/.test(text));
  const root = (channel = CHANNEL) => outages(channel)[0];
  const shown = (channel = CHANNEL) => JSON.stringify(root(channel)?.blocks ?? []);
  const thread = (channel = CHANNEL) =>
    world.slack.thread(TEAM, channel, root(channel)?.ts ?? '').map(({ text }) => text);
  const until = (words: string, channel = CHANNEL) =>
    world.passUntil(() => root(channel)?.text.includes(words) === true);
  const tests = () =>
    world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/test_access'),
    ).length;
  const click = (verb: string, who: 'admin' | 'member' = 'member', channel = CHANNEL) =>
    world.as(who).click({ channel, ts: root(channel)?.ts ?? '' }, { actionId: `episode:${verb}` });
  async function failAll(names: readonly string[] = NAMES): Promise<void> {
    for (const name of names) {
      breakServer(name, 'error');
      deploy(name, false);
    }
  }

  it('is one message, with one owner, one mention and three tests, and ends with the last', async () => {
    await world.say(`watch all failures --mention ${GROUP} --after 15m`);
    await failAll();
    await until('20 projects of acme are failing since');
    await until('all on web-1: Connection refused');
    const reason =
      '/projects/shop01|*shop01*>: the deployment to web-1 failed. Failed in *Transferring: Uploading files*';
    await world.passUntil(() => shown().includes(reason));
    await world.pass(3 * MINUTE);
    expect(messages()).toHaveLength(1);
    expect(tests()).toBeLessThanOrEqual(3);
    expect(shown()).toContain(reason);
    expect(shown()).toContain('and 10 more');
    expect(await ask(world, '/deckhand failing')).toContain('20 projects of acme are failing since');
    await world.pass(14 * MINUTE);
    const mentions = () => thread().filter((text) => text.includes('<!subteam^S0ONCALL>'));
    expect(mentions()).toEqual([expect.stringContaining('20 projects of acme are failing since')]);
    await click('claim');
    await world.passUntil(() => shown().includes(`<@${PEOPLE.member}> is on all of it`));
    for (const name of NAMES.slice(1)) deploy(name, true);
    await until('1 project of acme is failing since');
    expect(root()?.text).toContain('(19 recovered)');
    deploy('shop01', true);
    await until('20 projects of acme recovered after');
    await world.pass(5 * MINUTE);
    expect(messages()).toHaveLength(1);
    expect(mentions()).toHaveLength(1);
    const replies = thread().filter((text) => !/subteam|is on all of it/.test(text));
    expect(replies.length, 'replies').toBeLessThanOrEqual(3);
    expect(tests()).toBeLessThanOrEqual(3);
  });

  it('tells a phone and a screen reader whole rows, how many more, and who is on it', async () => {
    await world.say('watch all failures');
    for (const name of NAMES) deploy(name, false);
    await until('20 projects of acme are failing since');
    await until('all on web-1: Upload of assets/app.js failed: No space left on device.');
    await click('claim');
    await world.passUntil(() => shown().includes(`<@${PEOPLE.member}> is on all of it`));
    await world.passUntil(() => root()?.text.includes('<@') === true);
    const { text = '' } = root() ?? {};
    const [, more = ''] =
      new RegExp(`on web-1\\. And (\\d+) more\\. <@${PEOPLE.member}> is on it\\.$`).exec(text) ?? [];
    expect(text.match(/shop\d+: the deployment to web-1 failed/g)).toHaveLength(20 - Number(more));
    await world.pass(MINUTE);
    expect(shown().match(/is on (?:all of )?it/g), 'once for all').toHaveLength(1);
  });

  it('wakes the channel if a server joins, and its thread gets one reminder after a day without anybody', async () => {
    const servers = [{ name: 'web-1' }, { name: 'web-2' }];
    world.service.world.addProject({ account: ACCOUNT, name: 'shop21', permalink: 'shop21', servers });
    const failOn = (server: string) =>
      world.service.world.addDeployment({
        account: ACCOUNT,
        project: 'shop21',
        succeeded: false,
        endedAt: world.time.now(),
        endRef: server,
        user: 'Kim',
        servers: [server],
      });
    await world.say(`watch all failures --mention ${GROUP} --after 15m`);
    await failAll(NAMES.slice(0, 4));
    failOn('web-1');
    await until('5 projects of acme are failing since');
    await click('claim');
    await world.passUntil(() => shown().includes(`<@${PEOPLE.member}> is on all of it`));
    failOn('web-2');
    const woken = () =>
      world.slack.messages(TEAM, CHANNEL).filter(({ subtype }) => subtype === 'thread_broadcast');
    await world.passUntil(() => woken().length > 0);
    expect(woken().map(({ text }) => text)).toEqual([
      expect.stringContaining('shop21: the deployment to web-2 failed too'),
    ]);
    const mentions = () => thread().filter((text) => text.includes('<!subteam^S0ONCALL>'));
    await world.pass(16 * MINUTE);
    expect(mentions()).toEqual([expect.stringContaining('is on it, but it got worse')]);
    await leaveFailure(world, 'release', { who: 'member', ts: root()?.ts ?? '' });
    await world.passUntil(() => thread().some((text) => text.includes('handed it back')));
    world.time.jump(25 * 60 * MINUTE);
    const reminders = () => thread().filter((text) => text.includes('Nobody has been on it for a day'));
    await world.pass(70 * MINUTE, () => reminders().length > 0);
    await world.pass(5 * MINUTE);
    expect(reminders()).toHaveLength(1);
  });

  it('leaves four messages that came before, links to them, and takes them too', async () => {
    await world.say('watch all failures');
    for (const name of NAMES.slice(0, 4)) {
      await failAll([name]);
      await world.passUntil(() => messages().some(({ text }) => text.startsWith(name)));
    }
    await failAll(NAMES.slice(4));
    await until('20 projects of acme are failing since');
    await world.passUntil(() => shown().includes('its own message'));
    expect(root()?.text, 'read aloud').toMatch(
      /shop01: the deployment to web-1 failed.{0,60}, see its own message\./,
    );
    await world.pass(3 * MINUTE);
    expect(messages()).toHaveLength(5);
    expect(tests()).toBeLessThanOrEqual(3);
    await click('claim');
    const first = () => JSON.stringify(messages().find(({ text }) => text.startsWith('shop01'))?.blocks);
    await world.passUntil(() => first().includes(`<@${PEOPLE.member}> is on it`));
    const place = { channel: CHANNEL, ts: root()?.ts ?? '' };
    await leaveFailure(world, 'release', { who: 'member', ...place });
    await world.passUntil(() => !first().includes('is on it') && !shown().includes('is on all of it'));
    await leaveFailure(world, 'close', place);
    await until('Failure of 20 projects of acme closed by');
    expect(await ask(world, '/deckhand failing')).toContain('20 were closed and are not mended');
  });

  it('does not tell the channel twice that a project with a message of its own fails again, and mentions anew', async () => {
    await world.say(`watch all failures --mention ${GROUP} --after 15m`);
    deploy('shop01', false);
    await world.passUntil(() => messages().some(({ text }) => text.startsWith('shop01')));
    await failAll(NAMES.slice(1, 5));
    await until('5 projects of acme are failing since');
    await click('claim');
    deploy('shop01', true);
    await world.passUntil(() => thread().some((text) => text.includes('No longer failing: shop01')));
    await world.pass(2 * MINUTE);
    deploy('shop01', false);
    await world.passUntil(() => thread().some((text) => text.includes('Failing again: shop01')));
    const woken = world.slack
      .messages(TEAM, CHANNEL)
      .filter(({ subtype, text }) => subtype === 'thread_broadcast' && text.includes('shop01'));
    expect(woken.map(({ text }) => text)).toEqual([expect.stringContaining('shop01 is failing again')]);
    await world.pass(17 * MINUTE);
    expect(thread().filter((text) => text.includes('<!subteam^S0ONCALL>'))).toEqual([
      expect.stringContaining('is on it, but it got worse'),
    ]);
  });

  it('leaves out a project that recovered before the others began to fail', async () => {
    await world.say('watch all failures');
    deploy('shop20', false);
    await world.passUntil(() => messages().some(({ text }) => text.startsWith('shop20')));
    deploy('shop20', true);
    await world.passUntil(() => messages().some(({ text }) => text.startsWith('shop20 recovered')));
    await failAll(NAMES.slice(0, 4));
    await world.passUntil(() => messages().length === 5);
    expect(outages(), 'four are no outage').toEqual([]);
    await failAll(NAMES.slice(4, 6));
    await until('6 projects of acme are failing since');
    expect(root()?.text).not.toContain('recovered');
  });

  it('is one entry in two channels, whose projects have one owner', async () => {
    for (const channel of [CHANNEL, OTHER]) {
      const before = world.slack.messages(TEAM, channel).length;
      await world.as('admin').command(channel, '/deckhand watch all failures');
      await world.slack.until(() => world.slack.messages(TEAM, channel).length > before);
    }
    await failAll(SOME);
    for (const channel of [CHANNEL, OTHER]) await until('8 projects of acme are failing since', channel);
    await click('claim', 'member', OTHER);
    await world.passUntil(() => shown().includes(`<@${PEOPLE.member}> is on it`));
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.passUntil(() => home().includes('projects of `acme` are failing'));
    expect(home().match(/projects of `acme` are failing/g)).toHaveLength(1);
    expect(home()).not.toContain('the deployment to web-1');
  });

  it('lets projects join for ten minutes, and tells of them once a minute', async () => {
    await world.say('watch all failures');
    await failAll(NAMES.slice(0, 5));
    await until('5 projects of acme are failing since');
    await world.pass(4 * MINUTE);
    await failAll(NAMES.slice(5, 8));
    await until('8 projects of acme are failing since');
    await world.passUntil(() => thread().some((text) => text.includes('shop08')));
    expect(messages()).toHaveLength(1);
    await world.pass(10 * MINUTE);
    await failAll(NAMES.slice(8, 9));
    await world.passUntil(() => messages().length === 2);
    for (const name of NAMES.slice(0, 8)) deploy(name, true);
    await until('8 projects of acme recovered after');
    await world.pass(2 * MINUTE);
    deploy('shop01', false);
    await until('1 project of acme is failing since');
    await world.passUntil(() => thread().some((text) => text.includes('Failing again: shop01')));
    expect(shown(), 'one is not all').not.toContain('on all of it');
    const replies = world.slack
      .thread(TEAM, CHANNEL, root()?.ts ?? '')
      .map(({ blocks }) => JSON.stringify(blocks));
    expect(replies.join()).toMatch(/Failing again: <[^|]+\/projects\/shop01\|shop01>/);
  });

  it('is nobody’s once its owner has left', async () => {
    await world.say(`watch all failures --mention ${GROUP} --after 15m`);
    await failAll(SOME);
    await until('8 projects');
    await click('claim');
    await world.passUntil(() => shown().includes(`<@${PEOPLE.member}> is on all of it`));
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await world.passUntil(() => thread().some((text) => text.includes('<!subteam^S0ONCALL>')));
    await world.passUntil(() => !shown().includes('is on all of it'));
  });

  it('is one message of guards too', async () => {
    for (const name of SOME) await world.say(`guard add ${name} hourly`);
    await world.pass(2 * MINUTE);
    for (const name of SOME) breakServer(name, 'error');
    await until('8 projects of acme are unreachable since');
    expect(root()?.text).toContain('all on web-1: Connection refused');
    await world.pass(5 * MINUTE);
    expect(messages().length).toBeLessThanOrEqual(5);
    expect(outages()).toHaveLength(1);
    for (const name of SOME) breakServer(name, 'ok');
    await until('8 projects of acme recovered after');
  });

  it('of a channel that hears of it later, is one message', async () => {
    await world.say('watch all failures');
    await failAll(SOME);
    await until('8 projects of acme are failing since');
    await world.as('admin').command(OTHER, '/deckhand watch all failures');
    await until('8 projects of acme are failing since', OTHER);
    await world.pass(2 * MINUTE);
    expect(messages(OTHER)).toHaveLength(1);
  });
});
