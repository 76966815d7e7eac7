import { expect } from 'vitest';
import { test as base } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

const test = base.extend('connected', true);

/** Words that some commands need. Others are run as in their first example. */
const WORDS: Readonly<Record<string, string>> = {
  build: '1',
  'server show': 'web-1',
  'integration edit': '1',
  me: 'ben',
  use: 'storefront',
  disconnect: 'acme',
  'accounts default': 'acme',
  'invoices notify': 'here',
};

test('`--account` with a name that nobody connected is never ignored', async ({ world }) => {
  const admin = world.as('admin');
  const answers: string[] = [];
  for (const { name, examples = [] } of world.app.commands) {
    const words = WORDS[name];
    const line = words === undefined ? (examples[0] ?? name) : `${name} ${words}`;
    const before = world.slack.ephemerals(TEAM, PEOPLE.admin).length;
    await admin.command(CHANNEL, `/deckhand ${line} --account nobody`);
    const { text } = await world.slack.until(() => world.slack.ephemerals(TEAM, PEOPLE.admin)[before], {
      what: name,
    });
    expect(text, `${name}: use the account, or set \`takesAccount: false\``).toMatch(
      /There is no option --account|No account named nobody/,
    );
    answers.push(`${name}: ${text}`);
  }
  for (const name of ['test', 'activity', 'digest add', 'guard add', 'watch', 'invoices', 'hosting'])
    expect(answers.find((line) => line.startsWith(`${name}: `))).toContain('No account named');
});
