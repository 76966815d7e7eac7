import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../src/commands/registry.ts';
import { answerTo, ask } from '../support/asking.ts';
import { sendPayload } from '../support/signed.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const guarded = allCommands().filter(({ role }) => role !== 'member');
const actions = allCommands().flatMap((command) =>
  (command.actions ?? []).map((action) => ({ command, action })),
);
const submissions = allCommands().flatMap((command) =>
  (command.submissions ?? []).map((submission) => ({ command, submission })),
);
const guardedShortcuts = allCommands()
  .flatMap((command) => (command.shortcuts ?? []).map((shortcut) => ({ command, shortcut })))
  .filter(({ shortcut }) => shortcut.role !== 'member');
const guardedActions = actions.filter(({ action }) => action.role !== 'member');
const guardedSubmissions = submissions.filter(({ submission }) => submission.role !== 'member');

const REFUSED: Readonly<Record<string, string>> = {
  admin: 'Only admins can do this',
  operator: 'Only operators can do this',
  billing: 'Only billing people see invoices',
};

describe('a member', () => {
  let world: TestWorld;
  let serial = 0;
  beforeAll(async () => {
    world = await openTestWorld({
      connected: true,
      env: {
        PUBLIC_URL: 'https://deckhand.example.com',
        SERVICE_OAUTH_CLIENT_ID: 'deckhand',
        SERVICE_OAUTH_CLIENT_SECRET: 'secret',
      },
    });
  });
  afterAll(() => world.stop());

  const asked = () => {
    serial += 1;
    return {
      team: { id: TEAM },
      user: { id: PEOPLE.member },
      trigger_id: `forged-${serial}`,
      response_url: undefined,
    };
  };
  const viewOf = (callbackId: string) => ({
    id: `V${serial}`,
    hash: 'h',
    type: 'modal',
    callback_id: callbackId,
    private_metadata: JSON.stringify({ channel: CHANNEL }),
    title: { type: 'plain_text', text: 'Forged' },
    blocks: [],
    state: { values: {} },
  });
  const changes = () =>
    world.service.requests.all.filter(({ method }) => method !== 'GET').map(({ path }) => path);

  async function refused(what: string): Promise<void> {
    const [latest] = await world.app.workspaces.open(TEAM).audit.latest(1);
    expect(latest?.entry, what).toMatchObject({ who: PEOPLE.member, what, result: 'refused' });
  }

  it.each(guarded.map(({ name, role }) => [name, role] as const))(
    'is refused `%s`, which needs %s',
    async (name, role) => {
      expect(await ask(world, `/deckhand ${name} 1`)).toContain(REFUSED[role]);
      await refused(name);
    },
  );

  it.each(guardedActions.map(({ action, command }) => [action.actionId, action, command] as const))(
    'is refused the button %s, however it comes to be pressed',
    async (actionId, action, command) => {
      const answer = await answerTo(world, 'member', () =>
        sendPayload(world, {
          ...asked(),
          type: 'block_actions',
          channel: { id: CHANNEL },
          ...(action.view === undefined ? {} : { view: viewOf(action.view) }),
          actions: [{ type: 'button', action_id: actionId, block_id: 'b', value: '{}', action_ts: '1' }],
        }),
      );
      expect(answer).toContain(REFUSED[action.role]);
      await refused(command.name);
    },
  );

  it.each(
    guardedSubmissions.map(
      ({ submission, command }) => [submission.callbackId, submission, command] as const,
    ),
  )('is refused the form %s, however it comes to be sent', async (callbackId, submission, command) => {
    const answer = await sendPayload(world, {
      ...asked(),
      type: 'view_submission',
      view: viewOf(callbackId),
    });
    expect(answer.text).toContain(REFUSED[submission.role]);
    expect(answer.text).toContain('access:ask');
    await refused(command.name);
  });

  it.each(guardedShortcuts.map(({ shortcut, command }) => [shortcut.callbackId, shortcut, command] as const))(
    'is refused the shortcut %s',
    async (callback_id, shortcut, command) => {
      const answer = await answerTo(world, 'member', () =>
        sendPayload(world, {
          ...asked(),
          type: 'message_action',
          callback_id,
          channel: { id: CHANNEL },
          message: { ts: '1.1', text: 'storefront' },
        }),
      );
      expect(answer).toContain(REFUSED[shortcut.role]);
      await refused(command.name);
    },
  );

  it('has changed nothing by all that', () => {
    expect(changes()).toEqual([]);
  });

  it('never meets a button or form that asks for less than its command, but for looking', () => {
    const rank = { member: 0, billing: 1, operator: 1, admin: 2 } as const;
    const weaker = [
      ...actions
        .filter(({ action, command }) => rank[action.role] < rank[command.role])
        .map(({ action }) => action.actionId),
      ...submissions
        .filter(({ submission, command }) => rank[submission.role] < rank[command.role])
        .map(({ submission }) => submission.callbackId),
    ];
    expect(weaker).toEqual([]);
  });
});
