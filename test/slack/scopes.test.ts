import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { SCOPE_NAMES } from '../../src/slack/scopes.ts';
import { answerTo, ask } from '../support/asking.ts';
import { readText } from '../support/deployment-files.ts';
import { linkButton, openLinkable, openLinkBrowser } from '../support/linking.ts';
import { openProxy } from '../support/proxy.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';

const { bot_optional: optional } = parse(readText('manifest.yml')).oauth_config.scopes;

type Act = (world: TestWorld) => Promise<string>;

/** Slack sends nothing of this to an app without the scope, so `doctor` is what can say it. */
const unseen =
  (text: (world: TestWorld) => string): Act =>
  async (world) => {
    await world.as('member').postMessage(CHANNEL, text(world));
    return ask(world, '/deckhand doctor', 'member');
  };

const projectLink = ({ service }: TestWorld): string =>
  `${service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront`;

/** A deployment fails. Returns what its message says of the reason. */
async function failsInChannel(world: TestWorld): Promise<string> {
  await world.as('admin').command(CHANNEL, '/deckhand watch storefront failures');
  await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
  const failure = { cause: 'build' } as const;
  world.service.world.addDeployment({ account: ACCOUNT, project: 'storefront', succeeded: false, failure });
  const root = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL).at(-1)?.blocks);
  await world.slack.until(() => root().includes('Failed in'), { what: 'the failed step' });
  return root();
}

/** What a person does that needs the scope, and what they read without it. */
const ROWS: Record<string, { act: Act; reads: string | RegExp }> = {
  'app_mentions:read': {
    act: unseen(() => '@deckhand projects'),
    reads: '`app_mentions:read`*  is missing. It is for messages that mention Deckhand by name',
  },
  'files:write': {
    async act(world) {
      world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
      world.service.world.addInvoice({ account: ACCOUNT, number: 1001, total: '49.00', currency: 'eur' });
      return ask(world, '/deckhand invoices 1001', 'admin');
    },
    reads: 'Slack has not given Deckhand the scope `files:write`.',
  },
  'im:write': {
    async act(world) {
      expect(await ask(world, '/deckhand invoices')).toContain('Ask for access');
      const ts = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.ts ?? '';
      const click = () => world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'access:ask' });
      return answerTo(world, 'member', click);
    },
    reads: 'Slack has not given Deckhand the scope `im:write`.',
  },
  'users:read.email': {
    act: async (world) => (await openLinkBrowser(world).open(await linkButton(world))).text,
    reads: /“Ben Member” \(the e-mail address is missing.* scope users:read\.email\)/,
  },
  'links:read': {
    act: unseen(projectLink),
    reads: '`links:read`*  is missing. It is for links to projects and servers',
  },
  'links:write': {
    async act(world) {
      await world.as('member').postMessage(CHANNEL, projectLink(world));
      expect(await world.logged('"job":"unfurl"')).toContain('"scope":"links:write"');
      return ask(world, '/deckhand doctor', 'member');
    },
    reads: '`links:write`*  is missing. It is for that state, under the link',
  },
  'channels:read': { act: failsInChannel, reads: /\*Building: npm run build\*"/ },
  // The same of private channels.
  'groups:read': { act: failsInChannel, reads: 'Missing script' },
  'usergroups:read': {
    async act(world) {
      const { roles } = world.app.workspaces.open(TEAM);
      const groups = { admin: [], operator: ['S0OPS'], billing: [] };
      await roles.set({
        admin: [PEOPLE.admin],
        operator: [],
        billing: [],
        groups,
        changedBy: 'U',
        changedAt: 0,
      });
      const refused = await ask(world, '/deckhand use storefront');
      await world.as('admin').command(CHANNEL, '/deckhand roles');
      const form = () => JSON.stringify(world.as('admin').openView()?.content);
      await world.slack.until(() => form()?.includes('scope `usergroups:read`'), { what: 'the form' });
      expect(world.slack.calls.filter(({ method }) => method.startsWith('usergroups.'))).toEqual([]);
      return refused;
    },
    reads:
      'Slack has not given Deckhand the scope `usergroups:read`, so roles that user groups hold do not count.',
  },
};

test('every optional scope has its row', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual([...optional].toSorted());
});

test.each(Object.entries(ROWS))(
  'without %s a person reads which scope is missing, and the rest works',
  async (scope, { act, reads }) => {
    const botScopes = SCOPE_NAMES.filter((name) => name !== scope);
    const slackApp = { botScopes, unfurlDomains: ['127.0.0.1'] };
    const world = await openLinkable({ slackApp, connected: true, env: { NOTICE_INTERVAL_MS: '200' } });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    expect(await act(world)).toMatch(reads);
    expect(await ask(world, '/deckhand projects')).toContain('Storefront');
    expect(await ask(world, '/deckhand doctor', 'admin')).toContain(`Scope \`${scope}\`*  is missing`);
  },
);

test('with every scope, and where Slack does not name them, none is called missing', async () => {
  const proxy = await openProxy();
  onTestFinished(proxy.close);
  for (const env of [{}, { SLACK_API_URL: `${proxy.origin}/api/` }]) {
    const world = await openTestWorld({ connected: true, env });
    proxy.target = new URL(world.slack.apiUrl).origin;
    onTestFinished(() => world.stop());
    const said = await ask(world, '/deckhand doctor', 'admin');
    expect(said).toContain('the token works');
    expect(said).not.toContain('is missing');
  }
});
