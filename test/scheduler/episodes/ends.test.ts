import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { DAY, type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const OTHER = 'C0BILLING';

describe('a failure', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
    world.slack.invite(TEAM, OTHER, 'bot');
  });
  afterEach(() => world.stop());

  interface Deployment {
    servers?: string[];
    endedAt?: number;
  }
  const deploy = (succeeded: boolean, { servers, endedAt = world.time.now() }: Deployment = {}) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded,
      endedAt,
      endRef: `ref${world.time.now() % 1e7}`,
      user: 'Kim',
      ...(servers && { servers }),
    });
  const say = async (line: string, where = CHANNEL) => {
    const before = world.slack.messages(TEAM, where).length;
    await world.as('admin').command(where, `/deckhand ${line}`);
    await world.slack.until(() => world.slack.messages(TEAM, where).length > before);
  };
  const failures = (where = CHANNEL) =>
    world.slack
      .messages(TEAM, where)
      .filter(({ text }) => /^Storefront(:| recovered| closed| is no longer)/.test(text));
  const text = (where = CHANNEL) => failures(where).at(-1)?.text ?? '';
  const shown = (where = CHANNEL) => JSON.stringify(failures(where).at(-1)?.blocks ?? []);
  const until = (words: string, where = CHANNEL) => world.passUntil(() => text(where).includes(words));
  async function fail(where = [CHANNEL]): Promise<void> {
    for (const one of where) await say('watch storefront failures', one);
    deploy(false);
    for (const one of where) await until('are failing', one);
  }

  it('stays open during a pause, says so, and ends with a success that another channel hears of', async () => {
    await fail([CHANNEL, OTHER]);
    await say('watch pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    expect(text()).toContain('are failing');
    deploy(true);
    await until('recovered', OTHER);
    await until('recovered');
  });

  it('ends with a success of which nobody heard, once its watch is resumed', async () => {
    await fail();
    await say('watch pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    await world.pass(HOUR);
    deploy(true);
    await world.pass(HOUR);
    await say('watch resume storefront');
    await until('recovered after 1 h');
    await world.pass(5 * MINUTE);
    deploy(false);
    await world.passUntil(() => failures().length === 2);
    expect(text()).not.toContain('2 failures');
  });

  it('goes on without the note when its watch is resumed, after a restart too', async () => {
    await fail();
    await say('watch pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    await world.restart(async () => undefined);
    await say('watch resume storefront');
    await world.passUntil(() => !shown().includes('Paused in this channel'));
    expect(text()).toContain('are failing');
    deploy(true);
    await until('recovered');
  });

  it('ends with the last watch that shows it, in that channel alone', async () => {
    await fail([CHANNEL, OTHER]);
    await say('watch all failures');
    await say('unwatch storefront');
    await world.pass(5 * MINUTE);
    expect(text(), 'which the watch of all projects shows').toContain('are failing');
    await say('unwatch');
    await until('is no longer followed here (1 failure)');
    expect(shown()).not.toContain('episode:claim');
    expect(text(OTHER)).toContain('are failing');

    // It is the same failure, with its owner, for a channel that hears of it again.
    await world.pass(15 * MINUTE);
    deploy(false);
    await until('2 failures', OTHER);
    const root = { channel: OTHER, ts: failures(OTHER).at(-1)?.ts ?? '' };
    await world.as('member').click(root, { actionId: 'episode:claim' });
    await world.passUntil(() => shown(OTHER).includes('is on it'));
    await say('watch storefront failures');
    await world.passUntil(() => failures().length === 2);
    expect(text()).toContain('Storefront: deployments are failing, 2 failures since');
    expect(shown()).toContain(`<@${PEOPLE.member}> is on it`);
    deploy(true);
    await until('recovered');
    await until('recovered', OTHER);
    expect(failures()).toHaveLength(2);
  });

  it('of a guard ends with the guard', async () => {
    const server = { account: ACCOUNT, project: 'storefront', server: 'web-1' };
    world.service.world.setOutcome({ ...server, status: 'error', message: 'Connection refused' });
    await say('guard add storefront hourly UTC');
    await until('web-1 is unreachable');
    await say('guard pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    await say('guard remove storefront');
    await until('is no longer followed here');
  });

  it('from before a watch for everything began leaves the success to its news', async () => {
    deploy(false);
    await world.pass(MINUTE);
    await say('watch storefront all');
    await world.pass(2 * MINUTE);
    const before = world.slack.messages(TEAM, CHANNEL).length;
    deploy(true);
    await world.passUntil(() => world.slack.messages(TEAM, CHANNEL).length > before);
    expect(JSON.stringify(world.slack.messages(TEAM, CHANNEL).at(-1))).toContain('Kim');
  });

  it('goes on in its message if the removal of its watch is undone', async () => {
    await fail();
    await say('unwatch storefront');
    await until('is no longer followed here');
    const { ts = '' } = world.slack.messages(TEAM, CHANNEL).at(-1) ?? {};
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'watch:undo' });
    await until('are failing');
    deploy(true);
    await until('recovered');
    expect(failures()).toHaveLength(1);
  });

  it('ends when its watch is edited to another server, and not when that one fails too', async () => {
    await say('watch storefront failures --server web-1');
    deploy(false, { servers: ['web-1'] });
    await until('are failing');
    const edit = async (server: string) => {
      const [{ id = '' } = {}] = await world.app.workspaces.open(TEAM).schedules.list('watch');
      const ann = world.as('admin');
      await ann.command(CHANNEL, `/deckhand watch edit ${id}`);
      await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.edit');
      await ann.submit('watch.edit', { server });
    };
    deploy(false, { servers: ['web-2'] });
    await world.pass(2 * MINUTE);
    await edit('web-2');
    await world.pass(2 * MINUTE);
    expect(text()).toContain('are failing');
    deploy(true, { servers: ['web-2'] });
    await until('recovered');
    deploy(false, { servers: ['web-2'] });
    await world.passUntil(() => failures().length === 2);
    await edit('web-1');
    await world.pass(2 * MINUTE);
    deploy(true, { servers: ['web-1'] });
    await until('recovered');
    deploy(false, { servers: ['web-1'] });
    await world.passUntil(() => failures().length === 3);
    deploy(true, { servers: ['web-2'] });
    await world.pass(2 * MINUTE);
    await edit('web-2');
    await until('is no longer followed here');
  });

  it('ends with its project, and not if that is missing for a moment', async () => {
    await fail([CHANNEL, OTHER]);
    const missing = (times?: number) =>
      world.service.faults.add({
        path: `/${ACCOUNT}/projects`,
        method: 'GET',
        status: 200,
        body: [],
        ...(times && { times }),
      });
    const moment = missing(1);
    await world.time.advance(HOUR);
    await world.passUntil(() => moment.hits() > 0);
    await world.time.advance(HOUR);
    await world.pass(MINUTE);
    expect(text()).toContain('are failing');
    const gone = missing();
    for (const look of [1, 2]) {
      await world.time.advance(HOUR);
      await world.passUntil(() => gone.hits() >= look);
    }
    await until('Storefront is no longer listed at the service (1 failure)');
    await until('is no longer listed', OTHER);
    const said = await ask(world, '/deckhand failing');
    expect(said).not.toContain('Storefront: ');
    expect(said).not.toContain('not mended');
  });

  it('reminds its thread once if nobody is on it for a day', async () => {
    await fail();
    const thread = () =>
      world.slack
        .thread(TEAM, CHANNEL, failures().at(-1)?.ts ?? '')
        .filter(({ text }) => text.includes('for a day'));
    await world.time.advance(23 * HOUR);
    await world.pass(20 * MINUTE);
    expect(thread()).toEqual([]);
    await world.restart(async () => world.time.advance(7 * HOUR));
    await world.passUntil(() => thread().length > 0);
    await world.time.advance(DAY);
    await world.pass(20 * MINUTE);
    expect(thread()).toHaveLength(1);
    expect(thread()[0]?.text).toContain('Storefront: deployments are failing since');
  });

  it('ends whatever the date of a deployment is', async () => {
    await say('watch storefront failures');
    deploy(false, { endedAt: world.time.now() + 3 * DAY });
    await until('are failing');
    await world.pass(5 * MINUTE);
    deploy(true);
    await until('recovered');
    deploy(true, { endedAt: world.time.now() + 3 * DAY });
    await world.pass(2 * MINUTE);
    deploy(false);
    await world.passUntil(() => failures().length === 2);
    await world.pass(2 * MINUTE);
    expect(text()).toContain('are failing');
  });
});
