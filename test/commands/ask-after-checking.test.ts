import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { CHANNEL, type PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const FOR_OPERATORS = ['watch', 'guard add', 'digest add', 'server add', 'integration add'];
const FOR_MEMBERS = ['test storefront web-99', 'build 5f8a2c31', 'server show web-99'];

describe('a command that would ask for more, by a menu or a form, says first', () => {
  async function told(world: TestWorld, line: string, who: keyof typeof PEOPLE): Promise<string> {
    world.service.requests.clear();
    const answer = await ask(world, `/deckhand ${line}`, who);
    expect(world.as(who).openViews()).toEqual([]);
    expect(answer).not.toMatch(/Which|"type":"(?:external|static)_select"/);
    return answer;
  }

  test('that Deckhand is not in the channel, even before any account is connected', async ({ world }) => {
    world.slack.kick(TEAM, CHANNEL, 'bot');
    for (const line of ['test', 'watch', 'guard add', 'digest add', 'server add'])
      expect(await told(world, line, 'admin')).toContain(
        'Invite it with `/invite @deckhand`, then try again.',
      );
  });

  describe('with an account', () => {
    test.override({ connected: true });

    test('that the role is missing, or that it is switched off there', async ({ world }) => {
      for (const line of FOR_OPERATORS)
        expect(await told(world, line, 'member')).toContain('Only operators can use `');
      await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ commands: ['projects'] }));
      for (const line of [...FOR_OPERATORS, ...FOR_MEMBERS])
        expect(await told(world, line, 'admin')).toContain('is switched off in this channel');
      expect(world.service.requests.all).toEqual([]);
    });
  });
});
