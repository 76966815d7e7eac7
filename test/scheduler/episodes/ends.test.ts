import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, sayThere } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { press } from '../channel.ts';
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
    ref?: string;
  }
  const makeRef = () => `ref${world.time.now() % 1e7}`;
  const deploy = (
    succeeded: boolean,
    { servers, endedAt = world.time.now(), ref = makeRef() }: Deployment = {},
  ) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded,
      endedAt,
      endRef: ref,
      user: 'Kim',
      ...(servers && { servers }),
    });
  const say = (line: string, where = CHANNEL) => sayThere(world, line, where);
  const failures = (where = CHANNEL) =>
    world.slack
      .messages(TEAM, where)
      .filter(({ text }) => /^(Failure of )?Storefront(:| has| is| recovered| closed)/.test(text));
  const text = (where = CHANNEL) => failures(where).at(-1)?.text ?? '';
  const shown = (where = CHANNEL) => JSON.stringify(failures(where).at(-1)?.blocks ?? []);
  const until = (words: string, where = CHANNEL) => world.passUntil(() => text(where).includes(words));
  async function fail(where = [CHANNEL]): Promise<void> {
    for (const one of where) await say('watch storefront failures', one);
    deploy(false);
    for (const one of where) await until('the deployment', one);
  }

  it('stays open during a pause, says so, and ends with a success that another channel hears of', async () => {
    await fail([CHANNEL, OTHER]);
    await say('watch pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    expect(text()).toContain('the deployment');
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
    expect(text()).not.toContain('2 deployments failed');
  });

  it('ends with a revision that is back, which its channels and the news say', async () => {
    const all = (where: string) => {
      const messages = world.slack.messages(TEAM, where);
      const threads = messages.flatMap(({ ts }) => world.slack.thread(TEAM, where, ts));
      return JSON.stringify([messages, threads]);
    };
    const rewind = (ref: string) => `:rewind: back to \`${ref}\`, live <!date^`;
    await say('watch storefront failures');
    await say('watch storefront all', OTHER);
    for (const ref of ['aaaaaaa', 'bbbbbbb']) {
      deploy(true, { ref });
      await world.pass(2 * MINUTE);
    }
    deploy(false, { ref: 'ccccccc' });
    await until('the deployment');
    await say('watch pause storefront');
    deploy(true, { ref: 'aaaaaaa' });
    await world.passUntil(() => all(OTHER).includes(rewind('aaaaaaa')));
    await say('watch resume storefront');
    await until('recovered');
    await world.passUntil(() => all(CHANNEL).includes('Recovered'));
    expect(shown(), 'in the message itself').toContain(rewind('aaaaaaa'));
    expect(text()).toContain('Back to aaaaaaa, live');
    deploy(true, { ref: 'bbbbbbb' });
    await world.passUntil(() => all(OTHER).includes(rewind('bbbbbbb')));
  });

  it('goes on without the note when its watch is resumed, after a restart too', async () => {
    await fail();
    await say('watch pause storefront');
    await world.passUntil(() => shown().includes('Paused in this channel'));
    await world.restart(async () => undefined);
    await say('watch resume storefront');
    await world.passUntil(() => !shown().includes('Paused in this channel'));
    expect(text()).toContain('the deployment');
    deploy(true);
    await until('recovered');
  });

  it('ends with the last watch that shows it, in that channel alone', async () => {
    await fail([CHANNEL, OTHER]);
    await say('watch all failures');
    await say('unwatch storefront');
    await world.pass(5 * MINUTE);
    expect(text(), 'which the watch of all projects shows').toContain('the deployment');
    await say('unwatch');
    await until('is no longer followed here');
    expect(shown()).not.toContain('episode:claim');
    expect(text(OTHER)).toContain('the deployment');

    // It is the same failure, with its owner, for a channel that hears of it again.
    await world.pass(15 * MINUTE);
    deploy(false);
    await until('2 deployments failed', OTHER);
    const root = { channel: OTHER, ts: failures(OTHER).at(-1)?.ts ?? '' };
    await world.as('member').click(root, { actionId: 'episode:claim' });
    await world.passUntil(() => shown(OTHER).includes('is on it'));
    await say('watch storefront failures');
    await world.passUntil(() => failures().length === 2);
    expect(text()).toContain('Storefront has been failing since');
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
    await press(world, 'watch:undo');
    await until('the deployment');
    deploy(true);
    await until('recovered');
    expect(failures()).toHaveLength(1);
  });

  it('ends when its watch is edited to another server, and not when that one fails too', async () => {
    await say('watch storefront failures --server web-1');
    deploy(false, { servers: ['web-1'] });
    await until('the deployment');
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
    expect(text()).toContain('the deployment');
    deploy(true, { servers: ['web-2'] });
    await until('recovered');
    await world.pass(31 * MINUTE);
    deploy(false, { servers: ['web-2'] });
    await world.passUntil(() => failures().length === 2);
    await edit('web-1');
    await world.pass(2 * MINUTE);
    deploy(true, { servers: ['web-1'] });
    await until('recovered');
    await world.pass(31 * MINUTE);
    deploy(false, { servers: ['web-1'] });
    await world.passUntil(() => failures().length === 3);
    deploy(true, { servers: ['web-2'] });
    await world.pass(2 * MINUTE);
    await edit('web-2');
    await until('is no longer followed here');
  });

  it('does not end if the list of projects is not whole', async () => {
    await fail();
    const body = { records: [{ name: 'Other', permalink: 'other' }, { name: 'Storefront' }] };
    const torn = world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 200, body });
    for (const hits of [1, 2]) {
      await world.time.advance(HOUR);
      await world.passUntil(() => torn.hits() >= hits);
    }
    await world.pass(2 * MINUTE);
    expect(text()).toContain('the deployment');
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
    expect(text()).toContain('the deployment');
    const gone = missing();
    for (const look of [1, 2]) {
      await world.time.advance(HOUR);
      await world.passUntil(() => gone.hits() >= look);
    }
    await until('Failure of Storefront closed: it is no longer listed at the service');
    await until('is no longer listed', OTHER);
    const said = await ask(world, '/deckhand failing');
    expect(said).not.toContain('Storefront: ');
    expect(said).not.toContain('not mended');
  });

  it('ends with a success of its server under a new name, in each channel', async () => {
    await fail([CHANNEL, OTHER]);
    const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    for (const server of storefront?.servers ?? []) Object.assign(server, { name: `new-${server.name}` });
    await world.pass(MINUTE);
    deploy(true);
    await world.pass(2 * MINUTE);
    expect(text()).toContain('the deployment');
    await world.time.advance(HOUR);
    for (const where of [CHANNEL, OTHER]) await until('recovered', where);
    expect(await ask(world, '/deckhand failing')).not.toContain('Storefront: ');
    await world.pass(31 * MINUTE);
    deploy(false);
    await world.passUntil(() => failures().length === 2);
    await world.time.advance(HOUR);
    await world.pass(MINUTE);
    expect(text()).toContain('the deployment to new-web-1');
  });

  it('does not end if its server may be missing in a list that is not whole', async () => {
    await say('watch storefront failures');
    deploy(false, { servers: ['web-1'] });
    await until('the deployment');
    deploy(true, { servers: ['web-2'] });
    const body = [{ name: 'web-2', identifier: 's2' }, { name: 'web-1' }];
    const torn = world.service.faults.add({
      path: `/${ACCOUNT}/projects/*/servers`,
      method: 'GET',
      status: 200,
      body,
    });
    await world.time.advance(HOUR);
    await world.passUntil(() => torn.hits() > 0);
    await world.pass(2 * MINUTE);
    expect(text()).toContain('the deployment');
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
    expect(thread()[0]?.text).toContain('Storefront: the deployment');
  });

  it('ends whatever the date of a deployment is', async () => {
    await say('watch storefront failures');
    // The service shows an event that is ahead of Deckhand's clock if its own is.
    world.service.clock.advance(3 * DAY);
    const ahead = () => ({ endedAt: world.service.clock.now() });
    deploy(false, ahead());
    await world.pass(2 * MINUTE, () => text().includes('the deployment'));
    expect(text()).toContain('the deployment');
    await world.pass(5 * MINUTE);
    deploy(true);
    await until('recovered');
    deploy(true, ahead());
    await world.pass(31 * MINUTE);
    const { entries } = await world.app.workspaces.open(TEAM).ledger.read(ACCOUNT, 0);
    expect(entries.map(({ event }) => event)).toEqual([
      'deploy_failed',
      'deploy_completed',
      'deploy_completed',
    ]);
    deploy(false);
    await world.passUntil(() => failures().length === 2);
    await world.pass(2 * MINUTE);
    expect(text()).toContain('the deployment');
  });
});
