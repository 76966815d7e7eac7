import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { sendClick, sendForm } from '../support/signed.ts';
import { ACCOUNT, CHANNEL, CREDENTIALS, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const SISTER = 'T0SISTER';
const PIA = 'U0PIA';

/** Pia works in another workspace of the same organisation, where Deckhand is not installed, and is an admin here. */
async function share(world: TestWorld): Promise<void> {
  const enterprise = { id: 'E0HOUSE', name: 'House Group' };
  world.slack.workspace(TEAM).enterprise = enterprise;
  world.slack.addWorkspace({
    id: SISTER,
    name: 'Sister',
    installed: false,
    enterprise,
    users: [{ id: PIA, name: 'pia' }],
    channels: [{ id: 'C0LOUNGE', name: 'lounge' }],
  });
  world.slack.shareChannel(TEAM, CHANNEL, SISTER);
  world.slack.invite(TEAM, CHANNEL, 'bot');
  const { roles } = world.app.workspaces.open(TEAM);
  const admin = [PEOPLE.admin, PIA];
  await roles.set({ admin, operator: [], billing: [], changedBy: PEOPLE.admin, changedAt: 0 });
}

test('a modal that is sent from another workspace of a shared channel connects the account where Deckhand is installed', async ({
  world,
}) => {
  await share(world);
  const { slack } = world.app.workspaces.open(TEAM);
  const text = { type: 'plain_text', text: 'Connect' } as const;
  const button = { type: 'button', action_id: 'connect:open', value: '{}', text } as const;
  const message = { text: 'Connect', blocks: [{ type: 'actions' as const, elements: [button] }] };
  const shown = await slack.post({ channel: CHANNEL, message });
  const pia = world.slack.as(SISTER, PIA);
  await pia.click(shown, { actionId: 'connect:open' });
  await world.slack.until(() => pia.openView()?.content.callback_id === 'connect');
  const sent = await pia.submit('connect', CREDENTIALS);
  expect(sent.outcome).toBe('ok');
  await world.slack.until(() => JSON.stringify(world.slack.ephemerals(SISTER, PIA)).includes('Connected *'));
  expect(await world.app.workspaces.open(TEAM).accounts.get(ACCOUNT)).toMatchObject({ name: ACCOUNT });
  expect(await world.app.workspaces.open(SISTER).accounts.get(ACCOUNT)).toBeUndefined();
});

test.for([
  ['the installation that it names', SISTER, { app_installed_team_id: TEAM, team_id: SISTER }],
  ['its own team, where it names no installation', SISTER, { team_id: TEAM }],
  ['the team of the person, where there is nothing else', TEAM, {}],
] as const)('a form, and a click in it, belong to %s', async ([_, team, about], { world }) => {
  const who = { team: { id: team }, user: { id: PEOPLE.member, team_id: SISTER } };
  await sendForm(world, 'roles', about, who);
  const line = await world.logged('"workspace"');
  expect(line).toContain(`"workspace":"${TEAM}"`);
  const view = { id: 'V1', hash: 'h', type: 'modal', callback_id: 'roles', blocks: [], state: {}, ...about };
  await sendClick(world, 'digest:pause', { id: 'd1' }, { ...who, view });
  // Refusals are in the audit log of the workspace that was asked.
  const { audit } = world.app.workspaces.open(TEAM);
  await expect
    .poll(async () => (await audit.latest(5)).map(({ entry }) => entry.what))
    .toEqual(['digest pause', 'roles']);
});
