import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DAY_MS, systemClock } from '../../../src/core/time/clock.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { ann } from './support.ts';

const PROJECT = { account: ACCOUNT, project: 'storefront' };
const ALL = `/${ACCOUNT}/projects/*/integrations`;

let world: TestWorld;
let me: ReturnType<typeof ann>;
let passedMs: number;
beforeEach(async () => {
  passedMs = 0;
  const time = { ...systemClock, now: () => systemClock.now() + passedMs };
  world = await openTestWorld({ connected: true, time });
  onTestFinished(() => world.stop());
  me = ann(world);
});

function addElsewhere(name: string, more = {}) {
  const hook = { hookType: 'http_req', properties: { url: 'https://a.example.com' } };
  return world.service.world.addIntegration({ ...PROJECT, ...hook, name, ...more });
}

/** Sets one up by the form. */
async function addHere(name: string): Promise<void> {
  await me.open('integration add storefront');
  await me.choose('hook_type', 'http_req');
  await me.submit({ name, 'properties.url': 'https://b.example.com' });
  await world.slack.until(() => me.told().some((text) => text.includes(`${name} is set up`)));
}

const remembered = () => world.app.workspaces.open(TEAM).integrations.list();
const names = () => me.kept().map(({ name }) => name);
const calls = (method: string) =>
  world.service.requests.all.filter((one) => one.method === method && one.path.includes('/integrations'))
    .length;

/** Clicks “Remove” in the latest question. Returns what the message says then. */
async function confirm(who: 'admin' | 'member' = 'admin'): Promise<string> {
  const message = world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1);
  await world.as(who).click({ channel: CHANNEL, ts: message?.ts ?? '' }, { actionId: 'integration:remove' });
  const text = () => world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.text ?? '';
  await world.slack.until(() => !text().startsWith('Remove '), { what: 'the outcome' });
  return text();
}

describe('if the service describes lists and removals', () => {
  it('lists all integrations of a project, to operators', async () => {
    await addHere('Ours');
    addElsewhere('Theirs', { sendOnStart: true, sendOnCheckFailed: true });
    const shown = await ask(world, '/deckhand integration list storefront', 'admin');
    expect(shown).toContain('2 integrations of Storefront');
    expect(shown).toMatch(/Ours.*HTTP request.*failures.*Theirs.*starts, failed checks/s);
    expect(shown).toContain('Remove one');
    expect(shown).not.toContain('set up with Deckhand');
    for (const line of ['integrations storefront', 'integration remove theirs storefront'])
      expect(await ask(world, `/deckhand ${line}`)).toContain('operators');
  });

  it('offers those of a project that is named alone', async () => {
    addElsewhere('Theirs');
    const shown = await ask(world, '/deckhand integration remove storefront', 'admin');
    expect(shown).toContain('Which integration do you want to remove?');
    expect(shown).toContain('Theirs');
  });

  it('removes one after a question, with its record', async () => {
    await addHere('Ours');
    addElsewhere('Theirs');
    expect(await ask(world, '/deckhand integration remove ours storefront', 'admin')).toContain(
      'Remove *Ours* from *Storefront*',
    );
    expect(names()).toEqual(['Ours', 'Theirs']);
    expect(await confirm()).toContain('Ours of Storefront is removed');
    expect(names()).toEqual(['Theirs']);
    expect(await remembered()).toEqual([]);
    expect(await ask(world, '/deckhand integration remove nonsense storefront', 'admin')).toContain(
      'There is no integration `nonsense`',
    );
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const [theirs] = me.kept();
    const choice = { actionId: 'start:choose', selected: theirs?.identifier ?? '' };
    expect(await answerTo(world, 'admin', () => me.actor.click({ channel: CHANNEL, ts }, choice))).toContain(
      'Remove *Theirs*',
    );
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('Remove an integration: acme/storefront/');
  });

  it('finds the project of one that was set up here, and lets choose among equal names', async () => {
    await addHere('Ours');
    const [{ id } = { id: '' }] = await remembered();
    expect(await ask(world, `/deckhand integration remove ${id}`, 'admin')).toContain('Remove *Ours*');
    addElsewhere('Ours');
    expect(await ask(world, '/deckhand integration remove ours storefront', 'admin')).toContain(
      'Several integrations are named `ours`',
    );
  });

  it('says that somebody else has removed it already', async () => {
    await world.app.workspaces.open(TEAM).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    addElsewhere('Theirs');
    for (const who of ['admin', 'member'] as const)
      await ask(world, '/deckhand integration remove theirs storefront', who);
    expect(await confirm('member')).toContain('is removed');
    expect(await confirm('admin')).toContain('was removed already');
  });

  it.each([{ status: 403 }, { status: 404, body: { error_code: 'invalid_api_method' } }])(
    'says after $status that it cannot, and does not try again for a day',
    async (refusal) => {
      addElsewhere('Theirs');
      world.service.faults.add({ method: 'DELETE', path: `${ALL}/*`, ...refusal });
      await ask(world, '/deckhand integration remove theirs storefront', 'admin');
      expect(await confirm()).toContain('does not let Deckhand remove integrations');
      const remove = () => ask(world, '/deckhand integration remove theirs storefront', 'admin');
      expect(await remove()).toContain('does not let Deckhand remove integrations');
      expect(calls('DELETE')).toBe(1);
      passedMs += DAY_MS;
      expect(await remove()).toContain('Remove *Theirs*');
    },
  );

  it('shows those that it knows if the list is refused', async () => {
    await addHere('Ours');
    addElsewhere('Theirs');
    world.service.faults.add({ method: 'GET', path: ALL, status: 403 });
    for (let time = 0; time < 2; time += 1) {
      const shown = await ask(world, '/deckhand integration list storefront', 'admin');
      expect(shown).toContain('Ours');
      expect(shown).toContain('Only those that were set up with Deckhand');
      expect(shown).not.toContain('Theirs');
    }
    expect(calls('GET')).toBe(1);
  });

  it('shows foreign text letter for letter, and what it could not read', async () => {
    const { identifier } = addElsewhere('*Big* <!channel> :tada:');
    const question = await ask(world, `/deckhand integration remove ${identifier} storefront`, 'admin');
    expect(question).toContain('&lt;!channel&gt;');
    expect(question).not.toContain('**Big');
    const rows = [{ identifier: 'a1', name: '<!here> _x_', send_on_start: 'yes?' }, { name: 7 }, null];
    world.service.faults.add({ method: 'GET', path: ALL, status: 200, body: rows });
    const shown = await ask(world, '/deckhand integration list storefront', 'admin');
    expect(shown).toContain('1 integration of Storefront');
    expect(shown).toContain('2 entries could not be read');
  });
});

describe('if the service describes neither', () => {
  beforeEach(() => {
    world.service.world.setDescription({ description: 'none' });
  });

  it('lists those that were set up with Deckhand, and asks the service nothing', async () => {
    expect(await ask(world, '/deckhand integration list storefront', 'admin')).toContain(
      'No integration is set up in *Storefront*',
    );
    await addHere('Ours');
    addElsewhere('Theirs');
    const shown = await ask(world, '/deckhand integration list storefront', 'admin');
    expect(shown).toContain('1 integration of Storefront');
    expect(shown).toContain('Only those that were set up with Deckhand');
    expect(await ask(world, '/deckhand integration remove ours storefront', 'admin')).toContain(
      'Delete it at the service',
    );
    expect([calls('GET'), calls('DELETE')]).toEqual([0, 0]);
  });
});

it('removes one by its identifier if the service describes removals alone', async () => {
  const { identifier } = addElsewhere('Theirs');
  const paths = { '/projects/{p}/integrations/{i}': { delete: {} } };
  world.service.faults.add({ path: '/docs.json', status: 200, body: { paths } });
  await ask(world, `/deckhand integration remove ${identifier} storefront`, 'admin');
  expect(await confirm()).toContain('is removed');
  expect([names(), calls('GET')]).toEqual([[], 0]);
});
