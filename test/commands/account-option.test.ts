import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';

const whenConnected = test.extend('connected', true);

/** Where a command needs words to be carried out. */
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

/** They are about no account, about what has one already, or take its name as a word. */
const WITHOUT = [
  'accounts',
  'accounts default',
  'audit',
  'connect',
  'digest edit',
  'digest list',
  'digest pause',
  'digest preview',
  'digest remove',
  'digest resume',
  'disconnect',
  'doctor',
  'failing',
  'guard edit',
  'guard list',
  'guard pause',
  'guard remove',
  'guard resume',
  'guard run',
  'help',
  'roles',
  'signup',
  'start',
  'unwatch',
  'watch edit',
  'watch list',
  'watch pause',
  'watch resume',
];

whenConnected(
  '`--account` with a name that nobody connected is never passed over: the command has no such option, or no such account',
  async ({ world }) => {
    const admin = world.as('admin');
    const refused: string[] = [];
    for (const { name } of world.app.commands) {
      const before = world.slack.ephemerals(TEAM, PEOPLE.admin).length;
      await admin.command(CHANNEL, `/deckhand ${name} ${WORDS[name] ?? ''} --account nobody`);
      const said = await world.slack.until(() => world.slack.ephemerals(TEAM, PEOPLE.admin)[before], {
        what: name,
      });
      expect(said.text, name).toMatch(/There is no option `--account`|No account named `nobody`/);
      if (said.text.includes('no option')) refused.push(name);
    }
    expect(refused.toSorted()).toEqual(WITHOUT);
  },
);
