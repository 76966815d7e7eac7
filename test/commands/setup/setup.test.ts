import { describe, expect } from 'vitest';
import { lines, roots, say, shown, test, untilShown } from '../../scheduler/channel.ts';
import { ask, openForm } from '../../support/asking.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);

/** Everything that is set up, in a few words each. */
async function stored(world: TestWorld): Promise<string[]> {
  const all = await workspaceOf(world).schedules.all();
  return all
    .map((one) => {
      const what = 'project' in one ? one.project?.permalink : undefined;
      const pattern = one.kind === 'watch' ? one.pattern : undefined;
      const how = one.kind === 'watch' ? one.mode : 'cadence' in one && one.cadence.kind;
      const mention = 'escalation' in one && one.escalation ? ` ${one.escalation.mention}` : '';
      return `${one.kind} ${what ?? pattern ?? 'all'} ${how}${mention}`;
    })
    .toSorted();
}

type Person = Awaited<ReturnType<typeof openForm>>;
const form = (person: Person) => JSON.stringify(person.openView()?.content.blocks);

/** Chooses projects in the form, as its search offers them. */
async function pick(person: Person, ...projects: string[]): Promise<void> {
  for (const query of projects)
    await person.suggest({ viewId: person.openView()?.id ?? '' }, { actionId: 'projects', query });
}

const untilSaved = (world: TestWorld) =>
  world.slack.until(() =>
    world.slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('Saved: ')),
  );

const fill = (world: TestWorld, who: keyof typeof PEOPLE = 'admin') => openForm(world, 'setup', 'setup', who);

describe('setup', () => {
  test('takes a new client from nothing to a watch, a guard and a weekly digest', async ({ world }) => {
    const ann = await fill(world);
    await pick(ann, 'storefront');
    const choices = { projects: ['storefront'], hear: 'failures', guard: 'hourly', digest: 'weekly' };
    expect(await ann.submit('setup', choices)).toMatchObject({ outcome: 'ok' });
    await untilSaved(world);
    expect(await stored(world)).toEqual([
      'digest storefront weekly',
      'guard storefront hourly',
      'watch storefront failures',
    ]);
    // One message, where the words of `watch`, `guard add` and `digest add` posted three.
    expect(roots(world)).toHaveLength(1);
    expect(roots(world)[0]?.text).toContain(
      'This channel follows Storefront: failures. A guard tests it every hour. A digest on Mondays at 09:00.',
    );
    expect(lines(world)).toHaveLength(1);
    expect(shown(world)).toContain('setup:open');
    // The guard runs at once.
    await world.service.requests.next(({ path }) => path.includes('test_access'));
  });

  test('changes only what is changed, and leaves what it cannot say', async ({ world }) => {
    for (const words of [
      'watch storefront failures --server web-1',
      'guard add storefront cron:"15 */4 * * *" UTC',
      'digest add weekdays 09:00 UTC',
    ])
      await say(world, words);
    const before = await stored(world);
    const ann = await fill(world);
    for (const field of ['hear', 'guard', 'digest'])
      expect(form(ann)).toMatch(new RegExp(`"action_id":"${field}"[^]*?Stays as it is`));
    await ann.submit('setup', { hours: '9-18' });
    await untilSaved(world);
    expect(await stored(world)).toEqual(before);
    const [watch] = await workspaceOf(world).schedules.list('watch');
    expect(watch).toMatchObject({ server: { name: 'web-1' }, hours: { from: '09:00', to: '18:00' } });
    const again = await fill(world);
    expect(form(again)).toContain('09:00-18:00');
    await again.submit('setup');
    await world.slack.until(() => form(again).includes('Nothing is different yet.'));
  });

  test('adds a project like the others, and removes all of one that is taken out', async ({ world }) => {
    const ann = await fill(world);
    await pick(ann, 'storefront');
    const mention = { mention: '@bea', after: '1h' };
    await ann.submit('setup', { projects: ['storefront'], hear: 'everything', guard: 'daily', ...mention });
    await untilSaved(world);
    const again = await fill(world);
    await pick(again, 'billing');
    await again.submit('setup', { projects: ['billing-api'] });
    await expect
      .poll(() => stored(world))
      .toEqual([`guard billing-api daily ${PEOPLE.billing}`, `watch billing-api all ${PEOPLE.billing}`]);
    await (await fill(world)).submit('setup', { projects: [], hear: 'nothing', guard: 'none' });
    await expect.poll(() => stored(world)).toEqual([]);
    await untilShown(world, 'Nothing is set up in this channel now.');
    expect(lines(world).at(-1)?.text).toContain('removed 1 watch and 1 guard');
  });

  test('follows a pattern, and guards the chosen projects that it covers', async ({ world }) => {
    const ann = await fill(world);
    const refused = await ann.submit('setup', { pattern: 'store' });
    expect(refused.body).toContain('Put a star into store');
    await pick(ann, 'storefront');
    await ann.submit('setup', {
      pattern: '*, bill*',
      projects: ['storefront'],
      guard: 'hourly',
      digest: 'daily',
    });
    await untilSaved(world);
    expect(await stored(world)).toEqual([
      'digest all daily',
      'guard storefront hourly',
      'watch all failures',
      'watch bill* failures',
    ]);
  });

  test('asks about what two operators changed, and keeps what only one did', async ({ world }) => {
    await workspaceOf(world).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    await say(world, 'watch storefront failures');
    const [ann, ben] = [await fill(world), await fill(world, 'member')];
    await ann.submit('setup', { hear: 'everything', guard: 'hourly' });
    await expect.poll(() => stored(world)).toEqual(['guard storefront hourly', 'watch storefront all']);
    const asked = await ben.submit('setup', { guard: 'daily', hours: '9-18' });
    expect(asked.body).toContain(`<@${PEOPLE.admin}> changed this while the form was open`);
    await ben.submit('setup', { guard: 'daily' });
    await expect.poll(() => stored(world)).toEqual(['guard storefront daily', 'watch storefront all']);
    expect(await workspaceOf(world).schedules.list('watch')).toMatchObject([{ hours: { from: '09:00' } }]);
  });

  test('is refused to a person without the role, and where the channel does not allow a part', async ({
    world,
  }) => {
    expect(await ask(world, '/deckhand setup')).toContain('operators');
    const ann = await fill(world);
    await workspaceOf(world).channels.change(CHANNEL, () => ({ commands: ['setup', 'watch'] }));
    await pick(ann, 'storefront');
    await ann.submit('setup', { projects: ['storefront'], guard: 'hourly' });
    await world.slack.until(() => form(ann).includes('switched off'));
    expect(await stored(world)).toEqual([]);
  });

  test('makes nothing where the channel would have too many, or the service or Slack refuses a part', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    const before = await stored(world);
    const { schedules } = workspaceOf(world);
    const [first] = await schedules.list('watch');
    if (first === undefined) throw new Error('there is no watch');
    const ids = Array.from({ length: 48 }, (_, at) => `w${at}`);
    for (const id of ids)
      await schedules.put({
        ...first,
        id,
        requestId: id,
        project: { permalink: id, name: id },
        account: 'other',
      });
    const ann = await fill(world);
    await ann.submit('setup', { guard: 'hourly', digest: 'weekly' });
    await world.slack.until(() => form(ann).includes('the most that it can have'));
    for (const id of ids) await schedules.remove({ kind: 'watch', id });
    expect(await stored(world)).toEqual(before);
    world.slack.archiveChannel(TEAM, CHANNEL);
    await ann.submit('setup', { guard: 'hourly', digest: 'weekly', hear: 'everything' });
    await world.slack.until(() => form(ann).includes('archived'));
    expect(await stored(world)).toEqual(before);
  });

  test('shows what the channel has of another account', async ({ world }) => {
    world.service.world.addAccount({
      name: 'lumen',
      users: [
        { email: 'ann@example.com', apiKey: 'LumenKey00LumenKey00LumenKey00LumenKey00', role: 'admin' },
      ],
      projects: [{ name: 'Lamp', permalink: 'lamp', servers: [{ name: 'l-1' }] }],
    });
    await openForm(world, 'connect lumen', 'connect');
    const values = {
      account: 'lumen',
      email: 'ann@example.com',
      api_key: 'LumenKey00LumenKey00LumenKey00LumenKey00',
    };
    await world.as('admin').submit('connect', values);
    await expect.poll(() => workspaceOf(world).accounts.get('lumen')).toBeDefined();
    await say(world, 'watch lamp failures --account lumen');
    await say(world, 'watch storefront failures');
    const ann = await fill(world);
    expect(form(ann)).toContain('Storefront');
    await ann.click({ viewId: ann.openView()?.id ?? '' }, { actionId: 'account', selected: 'lumen' });
    await world.slack.until(() => form(ann).includes('Lamp'));
    expect(form(ann)).not.toContain('Storefront');
    await ann.submit('setup', { hear: 'everything' });
    await expect.poll(() => stored(world)).toEqual(['watch lamp all', 'watch storefront failures']);
  });
});

describe('40 clients', () => {
  const CLIENTS = Array.from({ length: 40 }, (_, at) => ({
    name: `Client ${at + 10}`,
    permalink: `client-${at + 10}`,
    servers: [{ name: 'web-1' }],
  }));
  test.override({ worldOptions: { projects: CLIENTS, env: { NOTICE_INTERVAL_MS: '40' } } });

  test('are set up in one form, and told in one message', async ({ world }) => {
    const ann = await fill(world);
    await pick(ann, 'client');
    const projects = CLIENTS.map(({ permalink }) => permalink);
    await ann.submit('setup', { projects, pattern: 'client-*', guard: 'hourly', digest: 'weekly' });
    await untilSaved(world);
    const all = await stored(world);
    expect(all).toHaveLength(42);
    expect(all).toContain('watch client-* failures');
    expect(roots(world)).toHaveLength(1);
    expect(shown(world)).toContain('and 22 more');
    await ann.click({ channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' }, { actionId: 'setup:all' });
    const listed = () => world.slack.ephemerals(TEAM, PEOPLE.admin).map((one) => JSON.stringify(one));
    await world.slack.until(() => listed().some((text) => text.includes('Client 49')));
    expect(all).toContain('guard client-49 hourly');
  });
});
