import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API_KEY, connectAccount, EMAIL } from '../../support/test-world.ts';
import { dms as dmsOf, texts, untilShown } from '../channel.ts';
import {
  ACCOUNT,
  CHANNEL,
  DAY,
  type DigestWorld,
  HOUR,
  openDigestWorld,
  PEOPLE,
  TEAM,
} from '../digests/digest-world.ts';

describe('the schedules of an account', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const dms = () => dmsOf(world);
  const states = async () =>
    (await world.app.workspaces.open(TEAM).schedules.list('digest'))
      .map(({ state }) => state.kind)
      .toSorted()
      .join(' ');
  const untilStates = async (expected: string) => world.passUntil(async () => (await states()) === expected);

  it('pause without its key or after its end, told of in one message, and in their channel in one line for all, and go on with it', async () => {
    for (const line of [
      'watch storefront',
      'watch all failures',
      'watch billing-api',
      'guard add storefront hourly',
      'guard add billing-api hourly',
      'digest add daily 09:00 UTC',
      'digest add daily 09:00 UTC today',
    ])
      await world.say(line);
    const before = texts(world).length;
    const told = () => texts(world).slice(before);
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await world.passUntil(() => told().length > 0 && dms().length > 0);
    await untilStates('paused paused');
    await world.time.advance(HOUR);
    expect(dms()).toHaveLength(1);
    expect(dms()[0]).toContain('the key of the account acme was revoked or rotated');
    expect(dms()[0]).toContain('/deckhand connect acme');
    for (const { id } of await world.app.workspaces.open(TEAM).schedules.all())
      expect(dms()[0]).not.toContain(`\`${id}\``);
    expect(told()).toEqual([
      'Deckhand paused 2 digests, 2 guards and 3 watches, because the key of the account acme was revoked or rotated. They resume by themselves once an admin connects the account again with /deckhand connect acme.',
    ]);

    const { users } = world.service.world.state.accounts.get(ACCOUNT) ?? { users: [] };
    for (const user of users) user.apiKey = API_KEY;
    await connectAccount(world.slack);
    await untilStates('active active');
    await world.passUntil(() => told().length > 1);
    expect(told()[1]).toBe('The account acme works again, so 2 digests, 2 guards and 3 watches go on.');
    expect(dms()).toHaveLength(1);

    const ann = world.as('admin');
    const asked = () => world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    await ann.command(CHANNEL, '/deckhand disconnect acme');
    await world.slack.until(() => asked()?.text.includes('Disconnect') === true);
    await ann.click({ channel: CHANNEL, ts: asked()?.ts ?? '' }, { actionId: 'disconnect:confirm' });
    await world.slack.until(() => dms().length > 1);
    expect(dms()[1]).toContain('no account is connected any more');
    await world.time.advance(2 * DAY);
    expect(world.posted().filter(({ text }) => text.startsWith('Deployment digest'))).toEqual([]);
    await connectAccount(world.slack);
    await untilStates('active active');
  });

  it('that the service refuses are resumed by the button of the notice, which tells their channel', async () => {
    await world.say('digest add daily 09:00 UTC');
    const refusal = world.service.faults.add({
      path: '/acme/activity',
      status: 403,
      body: { error_code: 'api_access_restricted', hint: 'Ask Kim for it.' },
    });
    await world.time.advance(HOUR);
    await world.passUntil(() => dms().length > 0);
    expect(dms()[0]).toContain('paused the digest of every connected account');
    expect(dms()[0]).toMatch(
      /has no API access\. The service says: Ask Kim for it\. Once .* press “Resume”\.$/,
    );
    await untilShown(world, 'Deckhand paused the digest of');
    expect(texts(world).at(-1)).toContain('resume it with /deckhand digest resume.');
    refusal.remove();
    const [notice] = world.slack.dms(TEAM, PEOPLE.admin);
    const place = { channel: notice?.channel ?? '', ts: notice?.ts ?? '' };
    await world.as('admin').click(place, { actionId: 'digest:resume#0' });
    await untilStates('active');
    await untilShown(world, `<@${PEOPLE.admin}> resumed the digest`);
    await world.slack.until(
      () => !JSON.stringify(world.slack.dms(TEAM, PEOPLE.admin)[0]?.blocks).includes('digest:resume'),
    );
  });

  it('pause where their command is switched off in their channel, say so, and go on once it is allowed', async () => {
    const ann = world.as('admin');
    const allow = async (commands: string[]): Promise<void> => {
      await ann.command(CHANNEL, '/deckhand roles');
      await world.slack.until(() => ann.openView()?.content.callback_id === 'roles');
      await ann.submit('roles', { admin: [PEOPLE.admin], commands });
    };
    await world.say('digest add daily 09:00 UTC');
    await world.say('watch all');
    const { schedules } = world.app.workspaces.open(TEAM);
    const watching = async () => (await schedules.list('watch')).map(({ state }) => state.kind).join();
    expect(await watching()).toBe('active');
    await allow(['whoami']);
    await untilStates('paused');
    await world.passUntil(async () => (await watching()) === 'paused');
    await world.slack.until(() => dms().length > 0);
    expect(dms()).toHaveLength(1);
    expect(dms()[0]).toContain(`is switched off in <#${CHANNEL}>`);
    expect(dms()[0]).toContain('They resume by themselves once an admin allows them there');
    await world.time.advance(2 * DAY);
    expect(world.posted().filter(({ text }) => !text.includes('watch'))).toEqual([]);
    await allow([]);
    await untilStates('active');
    await world.passUntil(async () => (await watching()) === 'active');
    await untilShown(world, 'An admin allows that here again, so');
  });

  it('stay paused where a person paused them', async () => {
    await world.say('digest add daily 09:00 UTC');
    await world.say('digest pause');
    await connectAccount(world.slack);
    await world.passUntil(
      async () => (await world.app.parts.engine.stats())['settle-accounts']?.waiting === 0,
    );
    expect(await states()).toBe('paused');
  });

  it('go on with the accounts that answer: one that does not shows why', async () => {
    const apiKey = 'OtherKey00OtherKey00OtherKey00OtherKey00';
    world.service.world.addAccount({ name: 'beacon', users: [{ email: EMAIL, apiKey, role: 'admin' }] });
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand connect');
    await world.slack.until(() => ann.openView() !== undefined);
    await ann.submit('connect', { account: 'beacon', email: EMAIL, api_key: apiKey });
    await world.say('digest add daily 09:00 UTC');
    await world.say('digest add daily 10:00 UTC --account acme');
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await world.time.advance(HOUR);
    await world.untilPosted(1);
    const shown = JSON.stringify(world.posted()[0]?.blocks);
    expect(shown).toContain('`acme`  :warning: The key of the account `acme` was revoked or rotated');
    expect(shown).toContain('`beacon`: no deployments');
    await world.slack.until(() => dms().length > 0);
    await untilStates('active paused');
    expect(dms()).toHaveLength(1);
  });

  it.each([
    ['has left', { deleted: true }],
    ['is of another company', { team_id: 'T0FAR' }],
  ])('are told of in their channel where the person %s', async (_, change) => {
    await world.say('digest add daily 09:00 UTC');
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    world.slack.changePerson(TEAM, PEOPLE.admin, change);
    await world.time.advance(HOUR);
    await untilShown(world, 'Deckhand paused the digest');
    expect(dms()).toEqual([]);
  });
});
