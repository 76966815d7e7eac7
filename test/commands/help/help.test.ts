import { describe, expect } from 'vitest';
import type { KnownBlock } from '../../../src/core/message.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

function lastBlocks(world: TestWorld, who: keyof typeof PEOPLE): KnownBlock[] {
  return (world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.blocks ?? []) as unknown as KnownBlock[];
}

function labels(blocks: readonly KnownBlock[]): string[] {
  return blocks.flatMap((block) => {
    const elements =
      block.type === 'actions' ? block.elements : block.type === 'section' ? [block.accessory] : [];
    return elements.flatMap((element) => (element?.type === 'button' ? [element.text.text] : []));
  });
}

/** On the message that this person read last. */
function click(world: TestWorld, who: keyof typeof PEOPLE, use: { actionId: string; selected?: string }) {
  const ts = world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.ts ?? '';
  return world.as(who).click({ channel: CHANNEL, ts }, use);
}

describe('help', () => {
  test.override({ connected: true });

  test('help has five lines with a verb and a button each, and shows a member nothing that needs another role', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand help', 'admin');
    expect(said).toContain('*Test* that repositories and servers can be reached');
    expect(said).toMatch(
      /^What Deckhand can do\. Test that .+ Follow what .+ Set up .+ Read invoices, .+ Administer who /,
    );
    expect(said).not.toContain('integration edit');
    const blocks = lastBlocks(world, 'admin');
    expect(labels(blocks)).toEqual(['Test', 'Follow', 'Set up', 'Billing', 'Administer']);
    await click(world, 'admin', { actionId: 'help:group#billing' });
    await world.slack.until(() =>
      JSON.stringify(lastBlocks(world, 'admin')).includes(
        '`invoices` lists and sums invoices, sends PDFs and notices',
      ),
    );
    expect(JSON.stringify(lastBlocks(world, 'admin'))).not.toContain('digest');
    expect(await ask(world, '/deckhand help')).not.toMatch(/`(?:integration|invoices|roles|audit|deploy)`/);
    expect(labels(lastBlocks(world, 'member'))).toEqual(['Test', 'Follow', 'Set up', 'Administer']);
  });

  test('help shows nothing that is switched off in the channel, and `help all` everything', async ({
    world,
  }) => {
    const { channels } = world.app.workspaces.open(TEAM);
    await channels.change(CHANNEL, (current) => ({ ...current, commands: ['activity'] }));
    expect(await ask(world, '/deckhand help')).not.toContain('`test`');
    const all = await ask(world, '/deckhand help all');
    expect(all).toContain('/deckhand invoices notify');
    expect(all, 'a semicolon outside an entity').not.toMatch(/(?<!&\w+);/);
  });

  test.for([
    ['help watch', '/deckhand unwatch ['],
    ['do i need to connect?', 'How to use connect'],
    ['should we pause storefront?', 'How to use pause'],
    ['what is a watch?', '/deckhand unwatch ['],
    ['what does a guard do', '/deckhand guard run ['],
    ['help set up', '`connect` `disconnect` `accounts` for accounts of the service'],
    ['help tets', 'Did you mean `test`?'],
    ['-h', 'What Deckhand can do'],
    ['Test storefront --Help', 'How to use test'],
  ] as const)('`%s` explains, and nothing is done', async ([line, words], { world }) => {
    expect(await ask(world, `/deckhand ${line}`)).toContain(words);
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
  });
});

describe('words that are no command', () => {
  test.override({ connected: true });

  test.for([
    ['digest foo', ['There is no `digest foo`', '`add`', '`pause`', '`preview`']],
    ['integration show', ['There is no `integration show`', '`add`', '`edit`', '`list`']],
    ['digest ad daily', ['Did you mean `digest add`?']],
    ['storefront', ['Deckhand knows no deployment of Storefront']],
    ['deploy storefront now', ['Deckhand does not deploy or roll back', 'Open Storefront']],
  ] as const)('`%s` is answered with what is right', async ([typed, expected], { world }) => {
    const said = await ask(world, `/deckhand ${typed}`);
    for (const part of expected) expect(said).toContain(part);
    expect(said.includes('Did you mean')).toBe(typed.startsWith('digest ad '));
  });

  test('a sentence that begins with a command is carried out without its small words', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('member').command(CHANNEL, '/deckhand test the storefront please');
    await world.slack.until(() => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('Storefront'));
    expect(await ask(world, '/deckhand doctor is it ok or what')).toContain(
      '`doctor` takes no other words, so `is` is not clear. Try `/deckhand doctor`.',
    );
  });

  test('a word may be given as an option of its name', async ({ world }) => {
    expect(await ask(world, '/deckhand server show --project=storefront web-9')).toContain(
      'There is no server `web-9` in `storefront`. It has `web-1`, `web-2`.',
    );
  });

  test('a synonym is carried out without a word about it', async ({ world }) => {
    expect(await ask(world, '/deckhand incidents')).toContain('so no failure is noticed');
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toHaveLength(1);
  });
});

describe('what is left out', () => {
  test.override({ connected: true });

  test('a member is told of what members can do alone', async ({ world }) => {
    const holders = { admin: [PEOPLE.admin], operator: [], billing: [] };
    await world.app.workspaces.open(TEAM).roles.set({ ...holders, changedBy: PEOPLE.admin, changedAt: 0 });
    world.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand')).toContain('Type `/invite @deckhand`');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand help')).toContain('`last`');
    const start = await ask(world, '/deckhand');
    expect(start).toContain('Test a project with');
    expect(start).not.toContain('/deckhand setup');
    expect(await ask(world, '/deckhand', 'admin')).toContain('"action_id":"setup:open"');
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    const refused = await ask(world, '/deckhand projects');
    expect(refused).toContain(`Ask <@${PEOPLE.admin}> to run \`/deckhand connect acme\``);
    expect(refused).not.toContain('Connect again');
    expect(await ask(world, '/deckhand projects', 'admin')).toContain('Connect again with');
  });

  test('hosting show without an identifier offers a menu, whose choice shows the resource', async ({
    world,
  }) => {
    world.service.world.addHostedResource({ account: 'acme', name: 'box one', identifier: 'r-1' });
    const said = await ask(world, '/deckhand hosting show');
    expect(said).toContain('Which managed server do you mean?');
    const shown = await answerTo(world, 'member', () =>
      click(world, 'member', { actionId: 'start:choose', selected: 'r-1' }),
    );
    expect(shown).toContain('box one');
  });
});
