import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

type Who = keyof typeof PEOPLE;

/** What each of these asks for, where nothing stands in the way: in a menu, or in a form. */
const MENUS = [
  'test',
  'test storefront web-99',
  'watch',
  'watch storefront --server web-99',
  'guard add hourly',
];
const FORMS = ['guard add', 'digest add', 'server add', 'integration add'];
const PRIVATE = ['build 5f8a2c31', 'server show web-99'];
const OPERATORS = /^(?:watch|guard|digest|server add|integration)/;

describe('a command that asks for more', () => {
  const workspace = ({ app }: TestWorld) => app.workspaces.open(TEAM);
  const asked = ({ service }: TestWorld) => service.requests.all.map(({ path }) => path);

  async function told(world: TestWorld, line: string, who: Who): Promise<string> {
    world.service.requests.clear();
    const answer = await ask(world, `/deckhand ${line}`, who);
    expect(world.as(who).openViews()).toEqual([]);
    expect(answer).not.toMatch(/Which|"type":"(?:external|static)_select"/);
    return answer;
  }

  describe('says first', () => {
    test.override({ connected: true });

    test.for(MENUS)('that Deckhand is not in the channel: %s', async (line, { world }) => {
      world.slack.kick(TEAM, CHANNEL, 'bot');
      const answer = await told(world, line, 'admin');
      expect(answer).toContain('Invite it with `/invite @deckhand`, then try again.');
      expect(answer).toContain('"Try again"');
    });

    test.for([...MENUS, ...FORMS, ...PRIVATE])('that the role is missing: %s', async (line, { world }) => {
      const isOperators = OPERATORS.test(line);
      if (!isOperators)
        world.slack.changePerson(TEAM, PEOPLE.member, { is_restricted: true, is_ultra_restricted: true });
      const words = isOperators
        ? 'Only operators can do this. <@U0ANN> can give you access.'
        : 'Single-channel guests';
      expect(await told(world, line, 'member')).toContain(words);
      expect(asked(world)).toEqual([]);
    });

    test.for([...MENUS, ...FORMS, ...PRIVATE])(
      'that it is switched off there: %s',
      async (line, { world }) => {
        await workspace(world).channels.change(CHANNEL, () => ({ commands: ['projects'] }));
        expect(await told(world, line, 'admin')).toContain('is switched off in this channel');
        expect(asked(world)).toEqual([]);
      },
    );
  });

  test.for(['test', 'watch', 'guard add', 'digest add', 'server add'])(
    'says before it asks for an account that Deckhand is not in the channel: %s',
    async (line, { world }) => {
      world.slack.kick(TEAM, CHANNEL, 'bot');
      expect(await told(world, line, 'admin')).toContain('Invite it with');
    },
  );

  describe('asks', () => {
    test.override({ connected: true });

    test.for([...MENUS, 'build 5f8a2c31', 'server show web-99'])(
      'with a menu: %s',
      async (line, { world }) => {
        expect(await ask(world, `/deckhand ${line}`, 'admin')).toMatch(/"type":"(?:external|static)_select"/);
      },
    );

    test.for(FORMS)('with a form: %s', async (line, { world }) => {
      await world.as('admin').command(CHANNEL, `/deckhand ${line}`);
      await world.slack.until(() => world.as('admin').openViews().length > 0);
    });
  });
});
