import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { episodeRecords } from '../../../src/records/episodes.ts';
import { setDatabaseClock } from '../../process/database-clock.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { freshDatabase } from '../../support/postgres.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  connectAccount,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import {
  breakServer,
  deploy as deployAt,
  roots as posts,
  press,
  say,
  shown,
  test,
  thread,
  untilShown,
} from '../channel.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const GROUP = '<!subteam^S0ONCALL|@oncall>';
const DUE_SOON = `watch storefront failures --mention ${GROUP} --after 5m`;
/** Hours pass in these tests, and a poll takes longer than all else. */
const RARELY = { env: { NOTICE_INTERVAL_MS: String(4 * MINUTE) } };
const GROUPS = { botScopes: ['commands', 'chat:write', 'users:read', 'usergroups:read'] };

const root = (world: TestWorld) =>
  posts(world).findLast(
    ({ text, subtype }) =>
      subtype === undefined && /the deployment|been failing|unreachable since|recovered after/.test(text),
  );
const mentions = (world: TestWorld) =>
  thread(world, root(world)?.ts ?? '').filter((text) => text.includes('Nobody is on it'));

function addGroup({ slack }: TestWorld, handle: string): void {
  const group = { id: `S0${handle.toUpperCase()}`, name: handle, handle, users: [] };
  slack.workspace(TEAM).userGroups.set(group.id, group);
}

describe('a failure that nobody is on', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld(undefined, RARELY);
  });
  afterEach(() => world.stop());

  const deploy = (succeeded: boolean) => deployAt(world, `ref${world.time.now() % 1e7}`, { succeeded });
  const fails = async () => {
    const before = root(world)?.text;
    deploy(false);
    await world.passUntil(() => root(world)?.text !== before);
  };
  const click = (verb: 'claim' | 'release') => {
    const place = { who: 'member', ts: root(world)?.ts ?? '' } as const;
    return verb === 'claim' ? press(world, 'episode:claim', place) : leaveFailure(world, verb, place);
  };
  const clicked = async (verb: 'claim' | 'release') => {
    const before = JSON.stringify(root(world)?.blocks);
    await click(verb);
    await world.passUntil(() => JSON.stringify(root(world)?.blocks) !== before);
  };

  it('mentions a group once in its thread, 15 minutes after its message, though Deckhand was down', async () => {
    const card = await world.say(`watch storefront failures --mention ${GROUP}`);
    expect(card).not.toContain('<!subteam');
    expect(card).toContain('@oncall is mentioned if nobody is on a failure after 15 min.');
    expect(shown(world)).toContain(
      'This channel follows Storefront: failures, mention @oncall after 15 min.',
    );
    expect(shown(world)).not.toContain('<!subteam');
    await fails();
    await world.pass(14 * MINUTE);
    expect(mentions(world)).toEqual([]);
    // It falls due while Deckhand is down.
    await world.restart(async () => world.time.advance(2 * MINUTE));
    await world.passUntil(() => mentions(world).length > 0);
    expect(mentions(world)).toEqual([
      expect.stringMatching(
        /<!subteam\^S0ONCALL> Storefront in acme: the deployment .* Nobody is on it after 1\d min\./,
      ),
    ]);
    await fails();
    await world.pass(2 * HOUR);
    expect(mentions(world)).toHaveLength(1);
  });

  it('mentions nobody once a person is on it, and again so long after it was handed back', async () => {
    await world.say('watch storefront failures --mention @ben --after 1h');
    await fails();
    await world.pass(50 * MINUTE);
    await clicked('claim');
    await world.pass(2 * HOUR);
    expect(mentions(world)).toEqual([]);
    await clicked('release');
    await world.pass(55 * MINUTE);
    expect(mentions(world)).toEqual([]);
    await world.pass(6 * MINUTE);
    expect(mentions(world)).toEqual([expect.stringContaining(`<@${PEOPLE.member}>`)]);
  });

  it.each([
    ['before', 30, / Nobody is on it after 1 h/],
    ['after', 90, / Nobody is on it: (?!<@)[^:]*, who was, can no longer use Deckhand/],
  ])('mentions them if the person on it leaves %s that time', async (_, minutes, words) => {
    await world.say('watch storefront failures --mention @bea --after 1h');
    await fails();
    await clicked('claim');
    await world.pass(minutes * MINUTE);
    expect(mentions(world)).toEqual([]);
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await world.pass(HOUR);
    expect(mentions(world)).toEqual([expect.stringMatching(words)]);
    expect(mentions(world)[0]).toContain(`<@${PEOPLE.billing}>`);
    expect(JSON.stringify(root(world)?.blocks)).not.toContain('is on it');
    expect(JSON.stringify(root(world)?.blocks)).toContain('I’m on it');
  });

  it('starts the time again where it is handed back while Slack is slow', async () => {
    await world.say('watch storefront failures --mention @ben --after 5m');
    await fails();
    await clicked('claim');
    await world.pass(10 * MINUTE);
    const record = async () => {
      const [row] = await episodeRecords(world.app.workspaces.open(TEAM).store).list();
      return row?.doc.episodes.at(-1);
    };
    world.slack.fault({ method: 'chat.update', delayMs: 500, times: 1 });
    deploy(false);
    await world.passUntil(async () => (await record())?.failures === 2);
    await click('release');
    await world.passUntil(async () => (await record())?.owner === undefined);
    await untilShown(world, '2 deployments failed');
    await world.pass(2 * MINUTE);
    expect(mentions(world)).toEqual([]);
  });

  it('mentions whom a watch names that is due sooner now, and that was removed and restored', async () => {
    await world.say('watch storefront failures --mention @bea --after 4h');
    await fails();
    await world.pass(MINUTE);
    await world.say(DUE_SOON);
    await world.say('unwatch storefront');
    await world.pass(7 * MINUTE);
    expect(mentions(world), 'while it is not watched').toEqual([]);
    await press(world, 'watch:undo');
    await world.pass(2 * MINUTE);
    expect(mentions(world)).toEqual([expect.stringContaining('<!subteam^S0ONCALL>')]);
  });

  const isActive = async () =>
    (await world.app.workspaces.open(TEAM).schedules.list('watch'))[0]?.state.kind === 'active';

  it.each([
    ['a person pauses it', () => world.say('watch pause'), () => world.say('watch resume')],
    [
      'its account’s key is revoked',
      () => world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL }),
      async () => {
        for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? [])
          user.apiKey = API_KEY;
        await connectAccount(world.slack);
      },
    ],
  ])('mentions nobody of a watch while it is paused, because %s', async (_, pause, resume) => {
    await world.say(DUE_SOON);
    await fails();
    await pause();
    await world.passUntil(async () => !(await isActive()));
    await world.pass(10 * MINUTE);
    expect(mentions(world)).toEqual([]);
    await resume();
    await world.passUntil(() => mentions(world).length > 0);
    expect(mentions(world)).toHaveLength(1);
  });

  it('is mentioned before a click at the same time shows who is on it', async () => {
    await world.say(DUE_SOON);
    await fails();
    await world.pass(4 * MINUTE);
    world.slack.fault({ method: 'chat.postMessage', delayMs: 500, times: 1 });
    await world.passUntil(async () => (await world.app.parts.engine.stats()).escalations?.running === 1);
    await click('claim');
    await world.passUntil(() => JSON.stringify(root(world)?.blocks).includes('is on it'));
    expect(mentions(world)).toHaveLength(1);
  });

  it('mentions nobody where it has recovered by then', async () => {
    await world.say(DUE_SOON);
    await fails();
    deploy(true);
    await world.passUntil(() => root(world)?.text.includes('recovered') === true);
    await world.pass(20 * MINUTE);
    expect(mentions(world)).toEqual([]);
  });

  it('waits for the hours of its watch', async () => {
    // Lisbon, where the admin is; a Monday.
    await world.say(`watch storefront failures --hours 7-8:15 --mention ${GROUP} --after 30m`);
    await fails();
    await world.pass(HOUR);
    expect(mentions(world)).toEqual([]);
    await world.time.advance(Date.parse('2026-03-03T06:59:00Z') - world.time.now());
    expect(mentions(world)).toEqual([]);
    await world.pass(2 * MINUTE);
    expect(mentions(world)).toHaveLength(1);
  });

  it('mentions each group at its own time, of a watch and of another that follows all', async () => {
    await world.say(`watch storefront failures --mention ${GROUP}`);
    await world.say('watch all failures --mention <!subteam^S0OTHER|@other> --after 1h');
    await fails();
    await world.pass(20 * MINUTE);
    expect(mentions(world).join()).not.toContain('S0OTHER');
    await world.pass(45 * MINUTE);
    expect(mentions(world)).toHaveLength(2);
    expect(mentions(world)[1]).toContain('<!subteam^S0OTHER>');
    expect(mentions(world)[1]).not.toContain('S0ONCALL');
  });

  it('of a guard mentions a person, and leaves out one who has left by then', async () => {
    breakServer(world, 'web-1');
    await world.say('guard add storefront hourly UTC --mention @ben --after 5m');
    await world.passUntil(() => root(world) !== undefined);
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    await world.pass(6 * MINUTE);
    expect(mentions(world)).toEqual([expect.stringContaining('Nobody is left to mention.')]);
    expect(mentions(world)[0]).not.toContain(PEOPLE.member);
  });

  it('leaves out a user group that is gone', async () => {
    await world.stop();
    world = await openDigestWorld(undefined, { slackApp: GROUPS, ...RARELY });
    for (const handle of ['oncall', 'other']) addGroup(world, handle);
    await world.say(DUE_SOON);
    world.slack.workspace(TEAM).userGroups.delete('S0ONCALL');
    await fails();
    await world.pass(6 * MINUTE);
    expect(mentions(world)).toEqual([expect.stringContaining('Nobody is left to mention.')]);
  });

  it('is told in the channel where threads are off', async () => {
    await world.say(DUE_SOON);
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    await fails();
    await world.pass(6 * MINUTE);
    expect(posts(world).filter(({ text }) => text.includes('<!subteam^S0ONCALL>'))).toHaveLength(1);
  });
});

describe('whom a failure mentions', () => {
  test.for<[string, string]>([
    ['watch storefront --after 15m', 'Name who to mention'],
    ['guard add storefront hourly --mention @ben --after 4m', 'not a time from 5 minutes to 4 hours'],
    ['watch storefront --mention @ben --after 5h', 'not a time from 5 minutes to 4 hours'],
    ['watch storefront --mention @ben --after <!channel>', '&lt;!channel&gt; is not a time'],
    ['watch storefront --mention @nobody', 'scope usergroups:read'],
    ['watch storefront --mention @No Body', 'Nobody here is called No Body. Give a name'],
    ['watch storefront --mention @here', 'would wake everybody'],
  ])('is refused: %s', async ([line, said], { world }) => {
    expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(said);
    expect(await world.app.workspaces.open(TEAM).schedules.all()).toEqual([]);
  });

  test('is refused in a direct message, which nobody else reads', async ({ world }) => {
    const channel = await world.app.workspaces.open(TEAM).slack.openDirect(PEOPLE.admin);
    const command = () => world.as('admin').command(channel, '/deckhand watch storefront --mention @ben');
    expect(await answerTo(world, 'admin', command)).toContain('Nobody else reads a direct message');
  });

  test.for<[string, string, number, string]>([
    ['watch storefront --mention <@U0BEN> --after=90', PEOPLE.member, 90, '@ben'],
    ['watch storefront --mention Ben --after "20 min"', PEOPLE.member, 20, '@Ben'],
    ['watch storefront --mention @Ben Member', PEOPLE.member, 15, '@Ben Member'],
    ['watch storefront --mention ben@house.example', PEOPLE.member, 15, '@ben@house.example'],
    ['watch storefront --mention me', PEOPLE.admin, 15, '@ann'],
    ['watch storefront --mention <!subteam^S0ONCALL|@oncall> --after 4h', 'S0ONCALL', 240, '@oncall'],
  ])('is read, and shown by their handle: %s', async ([line, mention, after, handle], { world }) => {
    await say(world, line);
    const { schedules } = world.app.workspaces.open(TEAM);
    expect(await schedules.list('watch')).toMatchObject([{ escalation: { mention, after } }]);
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain(`mentions ${handle} after`);
  });

  test('is edited in the forms, as it was shown there', async ({ world }) => {
    const ann = world.as('admin');
    const { schedules } = world.app.workspaces.open(TEAM);
    const openForm = async (kind: string) => {
      await ann.command(CHANNEL, `/deckhand ${kind} edit`);
      await world.slack.until(() => ann.openView()?.content.callback_id === `${kind}.edit`);
      return JSON.stringify(ann.openView());
    };
    for (const [kind, line] of [
      ['watch', 'watch storefront'],
      ['guard', 'guard add storefront hourly UTC'],
    ] as const) {
      await say(world, `${line} --mention ${GROUP} --after 1h`);
      expect(await openForm(kind)).toMatch(/"@oncall".*"60m"/);
      await answerTo(world, 'admin', () => ann.submit(`${kind}.edit`, { after: '30m' }));
      const escalation = { mention: 'S0ONCALL', name: 'oncall', after: 30 };
      expect(await schedules.list(kind)).toMatchObject([{ escalation }]);
    }
    await openForm('watch');
    const refused = await ann.submit('watch.edit', { mention: '' });
    expect(JSON.stringify(refused)).toContain('Name who to mention');
    await ann.submit('watch.edit', { mention: '', after: '' });
    expect((await schedules.list('watch'))[0]?.escalation).toBeUndefined();
  });
});

describe('a user group that a failure mentions', () => {
  test.override({ worldOptions: { slackApp: GROUPS } });

  test.for<[string, string]>([
    ['@SRE24', 'S0SRE24'],
    ['SRE24', 'S0SRE24'],
    ['S0SRE24', 'S0SRE24'],
    ['@U2FAN', 'U0ZOE'],
    ['@W3B', 'U0WEB'],
    ['@U0BEN', PEOPLE.member],
    ['@U1NOBODY', 'Nobody here is called U1NOBODY'],
    ['@S1NOBODY', 'Nobody here is called S1NOBODY'],
    ['<!subteam^S1NOBODY|@dead>', 'Nobody here is called dead'],
    ['<@U1NOBODY>', 'Nobody here is called U1NOBODY'],
    ['<@U0GONE>', 'may not use Deckhand'],
  ])('is looked up before it is confirmed, as %s', async ([typed, outcome], { world }) => {
    addGroup(world, 'sre24');
    world.slack.addPerson(TEAM, { id: 'U0ZOE', name: 'u2fan' });
    world.slack.addPerson(TEAM, { id: 'U0WEB', name: 'w3b' });
    world.slack.addPerson(TEAM, { id: 'U0GONE', name: 'gone' });
    world.slack.changePerson(TEAM, 'U0GONE', { deleted: true });
    const { schedules } = world.app.workspaces.open(TEAM);
    const line = `watch storefront --mention ${typed}`;
    if (/^[SU]0/.test(outcome)) {
      await say(world, line);
      expect(await schedules.list('watch')).toMatchObject([{ escalation: { mention: outcome } }]);
    } else {
      expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(outcome);
      expect(await schedules.all()).toEqual([]);
    }
  });

  test('is found by its handle, and a handle that nobody has is said', async ({ world }) => {
    addGroup(world, 'oncall');
    expect(await say(world, 'watch storefront --mention @OnCall')).toContain('@OnCall is mentioned');
    const [watch] = await world.app.workspaces.open(TEAM).schedules.list('watch');
    expect(watch?.escalation).toEqual({ mention: 'S0ONCALL', name: 'OnCall', after: 15 });
    const refused = (handle: string) => ask(world, `/deckhand watch all --mention ${handle}`, 'admin');
    expect(await refused('@nobody')).toContain('Nobody here is called nobody');
    expect(await refused('<!here>')).not.toContain('<!here>');
    world.slack.fault({ method: 'usergroups.list', error: 'paid_teams_only' });
    expect(await refused('@nobody')).toContain('Nobody here is called nobody');
    expect(await refused('@ben')).toContain('@ben is mentioned');
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('mentions @OnCall after 15 min');
  });
});

it('is mentioned although the clock of the database is ahead of Deckhand’s', async () => {
  const url = await freshDatabase();
  const world = await openTestWorld({ env: { STORE_URL: url, NOTICE_INTERVAL_MS: '40' } });
  onTestFinished(() => world.stop());
  await world.connect();
  world.slack.invite(TEAM, CHANNEL, 'bot');
  await say(world, 'watch all failures --mention @ben --after 5m');
  deployAt(world, 'failed1', { succeeded: false });
  await untilShown(world, 'reachable');
  await setDatabaseClock(url, 5 * MINUTE);
  await world.slack.until(() => mentions(world).length === 1, { what: 'the mention' });
});
