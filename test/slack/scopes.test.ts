import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { SCOPE_NAMES } from '../../src/slack/scopes.ts';
import { answerTo, ask } from '../support/asking.ts';
import { readText } from '../support/deployment-files.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM } from '../support/test-world.ts';

const { bot_optional: optional } = parse(readText('manifest.yml')).oauth_config.scopes;

test.each(optional as string[])(
  'without the optional scope %s the rest works, and doctor names it',
  async (scope) => {
    const botScopes = SCOPE_NAMES.filter((name) => name !== scope);
    const world = await openTestWorld({ slackApp: { botScopes }, connected: true });
    onTestFinished(() => world.stop());
    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
    expect(await ask(world, '/deckhand doctor', 'admin')).toContain(`lacks \`${scope}\``);
  },
);

test('a refusal for lack of a scope names it', async () => {
  const botScopes = SCOPE_NAMES.filter((name) => name !== 'files:write');
  const world = await openTestWorld({ slackApp: { botScopes }, connected: true });
  onTestFinished(() => world.stop());
  for (const user of world.service.world.state.accounts.get(ACCOUNT)?.users ?? [])
    Object.assign(user, { billing: true });
  world.service.world.addInvoice({ account: ACCOUNT, number: 1001, total: '49.00', currency: 'eur' });
  expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain(
    'Slack has not given Deckhand the scope `files:write`.',
  );
});

test('"Ask for access" without im:write says that this scope is missing', async () => {
  const botScopes = SCOPE_NAMES.filter((name) => name !== 'im:write');
  const world = await openTestWorld({ slackApp: { botScopes }, connected: true });
  onTestFinished(() => world.stop());
  expect(await ask(world, '/deckhand invoices')).toContain('Ask for access');
  const ts = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '';
  const click = () => world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'access:ask' });
  expect(await answerTo(world, 'member', click)).toContain('`im:write`');
});
