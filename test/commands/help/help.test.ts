import { describe, expect } from 'vitest';
import type { KnownBlock } from '../../../src/core/message.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const LONGEST = 20;

function lastBlocks(world: TestWorld, who: keyof typeof PEOPLE): KnownBlock[] {
  return (world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.blocks ?? []) as unknown as KnownBlock[];
}

/** Characters of a line in Slack's window at a usual size, with room for the frames around names. */
const WIDTH = 70;

/** Lines as a person sees them: those of a text as it wraps, and each row of buttons. */
function linesOf(blocks: readonly KnownBlock[]): number {
  return blocks
    .flatMap((block) => (block.type === 'actions' ? [''] : textOf(block).split('\n')))
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.replace(/[*`]/g, '').length / WIDTH)), 0);
}

function textOf(block: KnownBlock): string {
  if (block.type === 'section' || block.type === 'header') return block.text?.text ?? '';
  if (block.type !== 'context') return '';
  return block.elements.map((element) => ('text' in element ? element.text : '')).join(' ');
}

function labels(blocks: readonly KnownBlock[]): string[] {
  return blocks.flatMap((block) =>
    block.type === 'actions'
      ? block.elements.flatMap((element) => (element.type === 'button' ? [element.text.text] : []))
      : [],
  );
}

/** On the message that this person read last. */
function click(world: TestWorld, who: keyof typeof PEOPLE, use: { actionId: string; selected?: string }) {
  const ts = world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.ts ?? '';
  return world.as(who).click({ channel: CHANNEL, ts }, use);
}

describe('help', () => {
  test.override({ connected: true });

  test('help is at most 20 lines in groups, a phrase of at most eight words a command, each group with a button', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand help', 'admin');
    expect(said).toContain('`integration`');
    expect(said).not.toContain('integration edit');
    const blocks = lastBlocks(world, 'admin');
    expect(linesOf(blocks)).toBeLessThanOrEqual(LONGEST);
    const lines = blocks.flatMap((block) => (block.type === 'section' ? textOf(block).split('\n') : []));
    for (const line of lines) {
      const phrase = line.replace(/^.*` /, '');
      expect(phrase.split(' ').length).toBeLessThanOrEqual(8);
    }
    expect(labels(blocks)).toEqual(['Test', 'Follow', 'Set up', 'Billing', 'Administer']);
  });

  test('help shows a member nothing that needs another role', async ({ world }) => {
    const said = await ask(world, '/deckhand help');
    expect(said).toContain('`test`');
    for (const hidden of ['`integration`', '`invoices`', '`roles`', '`audit`', 'Billing'])
      expect(said).not.toContain(hidden);
    expect(labels(lastBlocks(world, 'member'))).toEqual(['Test', 'Follow', 'Set up', 'Administer']);
    expect(said).not.toContain('`deploy`');
  });

  test('help shows nothing that is switched off in the channel, and `help all` everything', async ({
    world,
  }) => {
    const me = world.as('admin');
    await me.command(CHANNEL, '/deckhand roles');
    await world.slack.until(() => me.openView()?.content.callback_id === 'roles');
    await answerTo(world, 'admin', () =>
      me.submit('roles', { admin: [PEOPLE.admin], commands: ['activity'] }),
    );
    const said = await ask(world, '/deckhand help');
    expect(said).not.toContain('`test`');
    expect(await ask(world, '/deckhand help all')).toContain('/deckhand invoices notify');
  });

  test('a group’s button shows its commands in place of the message', async ({ world }) => {
    await ask(world, '/deckhand help', 'admin');
    await click(world, 'admin', { actionId: 'help:group#billing' });
    await world.slack.until(() =>
      JSON.stringify(lastBlocks(world, 'admin')).includes('/deckhand invoices notify [here|off]'),
    );
    expect(JSON.stringify(lastBlocks(world, 'admin'))).not.toContain('digest');
  });

  test.for([
    ['stats', 'How to use activity'],
    ['watch', '/deckhand unwatch ['],
    ['setup', 'Set up accounts'],
    ['tets', 'Did you mean `test`?'],
  ] as const)('help %s says %s', async ([wanted, words], { world }) => {
    expect(await ask(world, `/deckhand help ${wanted}`)).toContain(words);
  });

  test('help of a group that is no command shows the group', async ({ world }) => {
    const said = await ask(world, '/deckhand help set up', 'admin');
    expect(said).toContain('integration edit');
    expect(said).not.toContain('invoices notify');
  });

  test.for([
    ['--help', 'What Deckhand can do'],
    ['—help', 'What Deckhand can do'],
    ['-h', 'What Deckhand can do'],
    ['test --help', 'How to use test'],
    ['digest add -h', 'How to use digest add'],
    ['Test storefront --Help', 'How to use test'],
  ] as const)(
    'help is what `%s` asks for, as at other command lines, and nothing is done',
    async ([line, words], { world }) => {
      expect(await ask(world, `/deckhand ${line}`)).toContain(words);
      expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    },
  );
});

describe('words that are no command', () => {
  test.override({ connected: true });

  test.for([
    ['digest foo', ['There is no `digest foo`', '`add`', '`pause`', '`preview`']],
    ['integration', ['`add`', '`edit`', '"Add one"', '"Edit one"']],
    ['integration list', ['There is no `integration list`', '"Add one"', '"Edit one"']],
    ['digest ad daily', ['Did you mean `digest add`?']],
    ['server remove web-1', ['`show`', '`add`']],
  ] as const)('a wrong second word names the right ones: %s', async ([typed, expected], { world }) => {
    const said = await ask(world, `/deckhand ${typed}`);
    for (const part of expected) expect(said).toContain(part);
  });

  test.for(['hello', 'restart web-1', 'list digests'])(
    'what is far from every command is not taken for one: %s',
    async (typed, { world }) => {
      const said = await ask(world, `/deckhand ${typed}`);
      expect(said).toContain('There is no command');
      expect(said).not.toContain('Did you mean');
    },
  );

  test('a sentence that begins with a command says what is too much, and offers what it may mean', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand test the storefront please');
    expect(said).toContain('`please` is one word too many. Try `/deckhand test [project] [server]`.');
    expect(said).toContain('"text":"test storefront"');
  });

  test.for([
    'server show --server web-9 --project storefront',
    'server show --project=storefront web-9',
    '--project storefront server show web-9',
  ])('a word may be given as an option of its name: %s', async (typed, { world }) => {
    expect(await ask(world, `/deckhand ${typed}`)).toContain(
      'There is no server `web-9` in `storefront`. It has `web-1`, `web-2`.',
    );
  });

  test('a list of projects without a match says so, and how to see them all', async ({ world }) => {
    await ask(world, '/deckhand projects shop');
    const said = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.text;
    expect(said).toBe('No projects matching “shop” in `acme`. `/deckhand projects` lists them all.');
  });

  test('the name of a project alone offers to test that project', async ({ world }) => {
    expect(await ask(world, '/deckhand storefront')).toContain('"text":"test storefront"');
  });

  test.for([
    ['status', 'so no failure is noticed'],
    ['incidents', 'so no failure is noticed'],
    ['keys', 'acme'],
  ] as const)('a synonym is carried out without a word about it: %s', async ([typed, said], { world }) => {
    const answer = await ask(world, `/deckhand ${typed}`);
    expect(answer).toContain(said);
    expect(answer).not.toContain('Showing');
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toHaveLength(1);
  });

  test('a synonym asks what its command asks', async ({ world }) => {
    expect(await ask(world, '/deckhand servers')).toContain('Which project do you mean?');
  });

  test.for(['deploy', 'deploy storefront now', 'rollback'])(
    'Deckhand says that it does not deploy, and where that is done: %s',
    async (typed, { world }) => {
      await world.as('member').command(CHANNEL, `/deckhand ${typed}`);
      const said = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member));
      await world.slack.until(() => said().includes('Deckhand does not deploy or roll back'));
      expect(said()).toContain('Open acme');
    },
  );

  test('a word for rolling back is answered once, and is not called a way to deploy', async ({ world }) => {
    expect(await ask(world, '/deckhand rollback')).toContain('Deckhand does not deploy or roll back');
    expect(await ask(world, '/deckhand help')).toContain('What Deckhand can do');
    const said = world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);
    expect(said.filter((text) => text.includes('/deckhand deploy'))).toEqual([]);
    expect(said).toHaveLength(2);
  });
});

describe('in a channel that is not bound', () => {
  test.override({ connected: true });
  test.beforeEach(({ world }) => world.slack.invite(TEAM, CHANNEL, 'bot'));

  test('test takes a single word for a server, where one project has such a server', async ({ world }) => {
    await world.as('member').command(CHANNEL, '/deckhand test web-1');
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => /web-1/.test(text) && /Storefront/.test(text)),
    );
    expect(await ask(world, '/deckhand test nowhere-1')).toContain('There is no project `nowhere-1`');
  });

  test('test asks which project is meant, where several have such a server', async ({ world }) => {
    world.service.world.addProject({ account: 'acme', name: 'Newcomer', servers: [{ name: 'web-1' }] });
    const question = await ask(world, '/deckhand test web-1');
    expect(question).toContain('Which project do you mean?');
    expect(question).not.toContain('Billing');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1) ?? {};
    const choice = { actionId: 'projects:choose', selected: 'newcomer' };
    await world.as('member').click({ channel: CHANNEL, ts }, choice);
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => /web-1/.test(text) && /Newcomer/.test(text)),
    );
  });
});

describe('what a bound channel implies', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
  });

  test('test takes a single word for a server, where no project has that name', async ({ world }) => {
    await world.as('member').command(CHANNEL, '/deckhand test web-1');
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => /web-1/.test(text) && /Storefront/.test(text)),
    );
    expect(await ask(world, '/deckhand test nowhere-1')).toContain('There is no project `nowhere-1`');
  });

  test('test takes a single word for the identifier of a server, where the service lists none', async ({
    world,
  }) => {
    const [, identifier = ''] =
      /Identifier `([^`]+)`/.exec(await ask(world, '/deckhand server show web-1')) ?? [];
    const path = `/${ACCOUNT}/projects/storefront/servers`;
    world.service.faults.add({ method: 'GET', path, status: 404, body: {} });
    await world.as('member').command(CHANNEL, `/deckhand test ${identifier}`);
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes(identifier)),
    );
    expect(await ask(world, '/deckhand test nowhere-1')).toContain('There is no project `nowhere-1`');
  });

  test('activity shows the channel’s project, and all with `all`', async ({ world }) => {
    expect(await ask(world, '/deckhand activity')).toContain('*Storefront* in `acme`');
    expect(await ask(world, '/deckhand activity all')).not.toContain('*Storefront* in `acme`');
  });

  test('a digest covers the channel’s project, and all with `--project all`', async ({ world }) => {
    const texts = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL).at(-1));
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
    await world.slack.until(() => texts().includes('set up'));
    expect(texts()).toContain('Storefront');
    const before = world.slack.messages(TEAM, CHANNEL).length;
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 10:00 UTC --project all');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > before);
    expect(texts()).not.toContain('Storefront');
  });
});

describe('what is left out', () => {
  test.override({ connected: true });

  test('a misspelt command has a button with what was meant, which runs', async ({ world }) => {
    expect(await ask(world, '/deckhand projcets store')).toContain('There is no command `projcets`');
    expect(labels(lastBlocks(world, 'member'))[0]).toBe('projects store');
    const shown = await answerTo(world, 'member', () =>
      click(world, 'member', { actionId: 'start:at-once#0' }),
    );
    expect(shown).toContain('Storefront');
  });

  test('use without a project says that none is bound, and offers a menu, whose choice binds the channel', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand use', 'admin');
    expect(said).toContain('This channel is bound to no project. Which project do you mean?');
    await click(world, 'admin', { actionId: 'projects:choose', selected: 'storefront' });
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('bound this channel')),
    );
  });

  test('a member is told of what members can do alone', async ({ world }) => {
    await world.app.workspaces.open(TEAM).roles.set({
      admin: [PEOPLE.admin],
      operator: [],
      billing: [],
      changedBy: PEOPLE.admin,
      changedAt: 0,
    });
    expect(await ask(world, '/deckhand help')).toContain('`watch mine`');
    const start = await ask(world, '/deckhand');
    expect(start).toContain('Test a project with');
    expect(start).not.toContain('/deckhand use');
    expect(await ask(world, '/deckhand', 'admin')).toContain('/deckhand use');
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    const refused = await ask(world, '/deckhand projects');
    expect(refused).toContain(`Ask <@${PEOPLE.admin}> to run \`/deckhand connect acme\``);
    expect(refused).not.toContain('Connect again');
    expect(await ask(world, '/deckhand projects', 'admin')).toContain('Connect again with');
  });

  test('build without an identifier says where one is found', async ({ world }) => {
    expect(await ask(world, '/deckhand build')).toContain('Copy the id from the end');
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

  test('hosting sync without an identifier offers a menu too', async ({ world }) => {
    world.service.world.addHostedResource({ account: 'acme', name: 'box one', identifier: 'r-1' });
    expect(await ask(world, '/deckhand hosting sync', 'admin')).toContain(
      'Which managed server do you mean?',
    );
  });
});
