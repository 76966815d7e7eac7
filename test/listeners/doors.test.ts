import { describe, expect } from 'vitest';
import { Account, SCHEDULES } from '../../src/records/accounts.ts';
import { answerTo, openList } from '../support/asking.ts';
import { choose } from '../support/failure-menu.ts';
import { BRISK } from '../support/faults.ts';
import { test as base } from '../support/fixtures.ts';
import { jobsToEnd } from '../support/jobs-to-end.ts';
import { sendCommand, sendEvent, sendForm } from '../support/signed.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const test = base.extend('connected', true).extend('worldOptions', BRISK);

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);

async function allow(world: TestWorld, commands: string[]): Promise<void> {
  await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ commands }));
  world.service.requests.clear();
}

async function refusedIn(world: TestWorld, what: string): Promise<void> {
  const [latest] = await world.app.workspaces.open(TEAM).audit.latest(1);
  expect(latest?.entry, what).toMatchObject({ what, result: 'refused' });
  expect(world.service.requests.all.filter(({ method }) => method !== 'GET')).toEqual([]);
}

describe('a channel that allows some commands only', () => {
  test('a channel’s restriction holds for the form of the shortcut, which is opened from nowhere and acts there', async ({
    world,
  }) => {
    await allow(world, ['projects']);
    const ann = world.as('admin');
    await ann.shortcut('test_access');
    const view = await world.slack.until(() => ann.openView());
    const values = { channel: { channel: { type: 'x', selected_conversation: CHANNEL } } };
    const answer = await sendForm(world, '', {
      ...view?.content,
      id: view?.id,
      hash: view?.hash,
      state: { values },
    });
    expect(answer.text).toContain('switched off');
    await refusedIn(world, 'test');
    expect(roots(world)).toEqual([]);
  });

  test('a channel’s restriction holds for its schedules, from wherever they are changed, and "Undo" brings none back', async ({
    world,
  }) => {
    const { slack } = world;
    for (const channel of [CHANNEL, 'C0BILLING']) slack.invite(TEAM, channel, 'bot');
    const ann = world.as('admin');
    for (const line of ['digest add daily 9:00 UTC', 'watch all'])
      await answerTo(world, 'admin', () => ann.command(CHANNEL, `/deckhand ${line}`));
    const digests = () => world.app.workspaces.open(TEAM).schedules.list('digest');
    const id = (await digests())[0]?.id;
    const watch = (await world.app.workspaces.open(TEAM).schedules.list('watch'))[0]?.id;
    await allow(world, ['projects']);
    for (const [command, schedule] of [
      ['digest pause', id],
      ['digest edit', id],
      ['digest remove', id],
      ['watch resume', watch],
      ['unwatch', watch],
    ] as const) {
      const said = await answerTo(world, 'admin', () =>
        ann.command('C0BILLING', `/deckhand ${command} ${schedule}`),
      );
      expect(said).toContain(`\`${command}\` is switched off in <#${CHANNEL}>`);
      await refusedIn(world, command);
    }
    const list = await openList(world, 'digest list all', 'C0BILLING');
    const refused = async (actionId: string, act: () => Promise<unknown>) => {
      const said = await answerTo(world, 'admin', act);
      expect(said).toContain(`switched off in <#${CHANNEL}>`);
      await refusedIn(world, actionId.replace(':', ' '));
    };
    await refused('digest:pause', () => choose(world, 'digest:pause ', { ...list, channel: 'C0BILLING' }));
    expect(roots(world)).toHaveLength(1);

    await allow(world, ['digest remove']);
    await choose(world, 'digest:ask ', { ...list, channel: 'C0BILLING' });
    await slack.until(() => ann.openView()?.content.callback_id === 'digest.remove');
    await answerTo(world, 'admin', () => ann.submit('digest.remove', {}));
    const { ts } = slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? { ts: '' };
    const undo = () => ann.click({ channel: 'C0BILLING', ts }, { actionId: 'digest:undo' });
    await allow(world, ['projects']);
    await refused('digest:undo', undo);
    expect(await digests()).toEqual([]);
    await allow(world, ['digest remove']);
    await undo();
    await slack.until(async () => (await digests()).length === 1, { what: 'the digest' });
  });
});

describe('what Slack sends twice', () => {
  test('a command that Slack sends twice is carried out once, also when the first has ended', async ({
    world,
  }) => {
    const send = (more: Record<string, string>) =>
      sendCommand(world, 'use storefront', { trigger_id: 'twice', ...more });
    expect((await send({})).status).toBe(200);
    await world.slack.until(() => roots(world).length === 1);
    expect((await send({ signed: 'again' })).status).toBe(200);
    await ended(world, 'requests');
    expect(roots(world)).toHaveLength(1);
  });

  test('an event that Slack sends twice is carried out once, also after a restart', async ({ world }) => {
    const published = () => world.slack.calls.filter(({ method }) => method === 'views.publish').length;
    const opened = { type: 'app_home_opened', user: PEOPLE.member, tab: 'home' };
    const send = (event_id: string, more: object) => sendEvent(world, opened, { event_id, ...more });
    expect((await send('Ev0TWICE', {})).status).toBe(200);
    await world.slack.until(() => published() > 0);
    await ended(world, 'events');
    await world.restart(async () => undefined);
    const before = published();
    expect((await send('Ev0TWICE', { signed: 'again' })).status).toBe(200);
    await ended(world, 'events');
    expect(published()).toBe(before);
    await send('Ev0OTHER', {});
    await world.slack.until(() => published() > before);
  });

  test.for([
    ['test_access', { project: 'storefront', channel: CHANNEL }, '/projects/storefront/test_access'],
    ['deployment_statistics', { range: 'last_30_days' }, '/activity'],
  ] as const)(
    'a step %s of a workflow whose event comes under another name is carried out once',
    async ([callback_id, inputs, path], { world }) => {
      const asked = () => world.service.requests.all.filter((one) => one.path.endsWith(path));
      const step = {
        type: 'function_executed',
        function: { callback_id },
        function_execution_id: 'Fx0TWICE',
      };
      await sendEvent(world, { ...step, inputs });
      await expect.poll(asked).toHaveLength(1);
      await ended(world, 'run-step');
      await sendEvent(world, { ...step, inputs });
      await ended(world, 'run-step');
      expect(asked()).toHaveLength(1);
    },
  );
});

/** Until no job of the queues that it passes waits or runs. */
const ended = (world: TestWorld, queue: string) => jobsToEnd(world, [queue, 'events']);

test('a stored API key opens for its own account alone, wherever it is moved to', async ({ world }) => {
  const { store } = world.app.parts;
  const accounts = store.of(TEAM).collection('accounts', Account);
  const kept = await accounts.get(ACCOUNT);
  if (kept === undefined) throw new Error('no account is stored');
  await accounts.put('northwind', { ...kept, name: 'northwind' });
  const workspace = world.app.workspaces.open(TEAM);
  const moved = await workspace.accounts.resolve(SCHEDULES, 'northwind');
  world.service.requests.clear();
  await expect(workspace.accounts.use(moved, async (client) => client)).rejects.toThrow();
  expect(world.service.requests.all).toEqual([]);
});
