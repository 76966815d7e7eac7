import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { sendJson } from '../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const mention = async (
  world: TestWorld,
  text: string,
  options: { who?: keyof typeof PEOPLE; thread?: string } = {},
) => {
  world.slack.invite(TEAM, CHANNEL, 'bot');
  return world.as(options.who ?? 'member').postMessage(CHANNEL, text, options.thread);
};
const answers = ({ slack }: TestWorld, who: keyof typeof PEOPLE = 'member') =>
  slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => !text.includes('Connected *'));
const answered = async (world: TestWorld, words: string, who: keyof typeof PEOPLE = 'member') => {
  await world.slack.until(() => JSON.stringify(answers(world, who)).includes(words), { what: `"${words}"` });
  return answers(world, who).find((answer) => JSON.stringify(answer).includes(words));
};
const labels = (message: object | undefined) =>
  [...JSON.stringify(message).matchAll(/"type":"button".*?"text":"(.*?)"/g)].map(([, label]) => label);
/** What everyone in the channel sees of Deckhand, in threads as well. */
const seen = ({ slack }: TestWorld) =>
  slack
    .messages(TEAM, CHANNEL)
    .flatMap((root) => [root, ...slack.thread(TEAM, CHANNEL, root.ts)])
    .filter(({ bot_id: bot }) => bot !== undefined);
const ended = (world: TestWorld) =>
  world.slack.until(() => seen(world).some(({ text }) => text.includes('all 2 servers are reachable')), {
    what: 'the outcome',
  });

function mentionEvent(
  { authorizations, ...parts }: { authorizations?: readonly object[]; [name: string]: unknown },
  id = 'Ev0MENTION',
) {
  const event = {
    type: 'app_mention',
    user: PEOPLE.member,
    text: '<@U0BOT> projects',
    ts: '1700000000.000100',
    channel: CHANNEL,
    ...parts,
  };
  return {
    type: 'event_callback',
    team_id: TEAM,
    event_id: id,
    event_time: 1_700_000_000,
    event,
    authorizations,
  };
}

const BOT = { team_id: TEAM, user_id: 'U0BOT', is_bot: true };

/** A mention as the composer sends it, in a part of its kind. */
function composed(kind: 'section' | 'preformatted' | 'quote', style?: object) {
  const said = { type: 'text', text: ' projects', style };
  const mentioned = style === undefined ? { type: 'user', user_id: 'U0BOT' } : { ...said, text: '<@U0BOT>' };
  return {
    blocks: [{ type: 'rich_text', elements: [{ type: `rich_text_${kind}`, elements: [mentioned, said] }] }],
  };
}

describe('a mention', () => {
  test.override({ connected: true });

  test('of a test shows the run in its own thread', async ({ world }) => {
    const { ts } = await mention(world, '@deckhand test storefront');
    await ended(world);
    await world.slack.until(() => seen(world).length > 1, { what: 'the progress' });
    expect(seen(world).map(({ thread_ts: thread }) => thread)).toEqual(seen(world).map(() => ts));
    expect(JSON.stringify(seen(world))).toContain('web-1');
  });

  test.for(['message_not_found', 'thread_not_found'])(
    'whose message is deleted meanwhile (%s) says so, and not that Deckhand is to be invited',
    async (error, { world }) => {
      world.slack.invite(TEAM, CHANNEL, 'bot');
      world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      const parts = { ts: '1700000000.000200', text: '<@U0BOT> test storefront' };
      await sendJson(world, mentionEvent(parts, 'Ev0DELETED'));
      const told = () =>
        JSON.stringify(world.slack.calls.filter(({ method }) => method === 'chat.postEphemeral'));
      await world.slack.until(() => told().includes('was deleted'), { what: 'the reason' });
      expect(told()).not.toContain('/invite');
    },
  );

  test('of a watch is answered in its own thread', async ({ world }) => {
    const { ts } = await mention(world, '@deckhand watch storefront', { who: 'admin' });
    await world.slack.until(() => seen(world).some(({ text }) => text.includes('now hears')));
    expect(seen(world).map(({ thread_ts: thread }) => thread)).toEqual([ts]);
  });

  test('in a thread is answered in that thread', async ({ world }) => {
    const { ts } = await world.as('admin').postMessage(CHANNEL, 'is the storefront well?');
    await mention(world, '@deckhand test storefront', { thread: ts });
    await ended(world);
    expect(seen(world)[0]?.thread_ts).toBe(ts);
    await mention(world, '@deckhand projects', { thread: ts });
    expect((await answered(world, 'Storefront'))?.thread_ts).toBe(ts);
  });

  test('of a test that names no project shows the run of the one picked in its own thread', async ({
    world,
  }) => {
    const { ts } = await mention(world, '@deckhand test');
    const question = await answered(world, 'Which project do you mean?');
    await world
      .as('member')
      .click(
        { channel: CHANNEL, ts: question?.ts ?? '' },
        { actionId: 'projects:choose', selected: 'storefront' },
      );
    await ended(world);
    expect(seen(world)[0]?.thread_ts).toBe(ts);
  });

  test('of a server that there is not offers those there are, and tests the one picked in its own thread', async ({
    world,
  }) => {
    const { ts } = await mention(world, '@deckhand test storefront web-9');
    const question = await answered(world, 'There is no server `web-9`');
    const place = { channel: CHANNEL, ts: question?.ts ?? '' };
    const ben = world.as('member');
    const offered = await ben.suggest(place, { actionId: 'server', query: 'web-2' });
    const [server] = offered.options ?? [];
    await ben.click(place, { actionId: 'server', selected: String(server?.value) });
    await world.slack.until(
      () => seen(world).some(({ text }) => text.includes('web-2 in Storefront: reachable')),
      {
        what: 'the outcome',
      },
    );
    expect(seen(world)[0]).toMatchObject({ thread_ts: ts, text: expect.stringContaining('web-2') });
  });

  test('is answered to one person where the slash command is, and nobody else sees that', async ({
    world,
  }) => {
    await mention(world, '@deckhand projects');
    expect(await answered(world, 'Storefront')).not.toHaveProperty('thread_ts');
    expect(seen(world)).toEqual([]);
  });

  test.for([
    ['hey @deckhand projects?', 'Storefront'],
    ['@deckhand: projects store', 'Storefront'],
    ['@deckhand projects\nthanks a lot', 'Storefront'],
    ['@deckhand please `/deckhand projects store`!', 'Storefront'],
    [':wave: @deckhand\nprojects store', 'Storefront'],
    ['*@deckhand* *projects store*', 'Storefront'],
    ['@deckhand — projects store', 'Storefront'],
    ['@deckhand', 'You are connected'],
    ['@deckhand,\nprojects store', 'Storefront'],
    ['hey @deckhand please\n\n• projects store\nthanks', 'Storefront'],
    ['@deckhand\n```\nprojects store\n```', 'Storefront'],
    ['@deckhand ```projects store```', 'Storefront'],
    ['as in `@deckhand test`:\n@deckhand projects store @deckhand', 'Storefront'],
    ['projects @deckhand', 'Which of these did you mean?'],
  ] as const)('reads "%s"', async ([text, words], { world }) => {
    await mention(world, text);
    expect(await answered(world, words)).toBeDefined();
  });

  test('of a command with a form has a button that opens it', async ({ world }) => {
    await mention(world, '@deckhand connect other', { who: 'admin' });
    const answer = await answered(world, 'Open the form', 'admin');
    const ann = world.as('admin');
    await ann.click({ channel: CHANNEL, ts: answer?.ts ?? '' }, { actionId: 'start:at-once' });
    await world.slack.until(() => ann.openView()?.content.callback_id === 'connect', { what: 'the form' });
    expect(JSON.stringify(ann.openView()?.content)).toContain('other');
  });

  test('of a command with a form is answered in its thread, with what comes of the form too', async ({
    world,
  }) => {
    const { ts } = await mention(world, '@deckhand digest add', { who: 'admin' });
    const answer = await answered(world, 'Open the form', 'admin');
    const ann = world.as('admin');
    await ann.click({ channel: CHANNEL, ts: answer?.ts ?? '' }, { actionId: 'start:at-once' });
    await world.slack.until(() => ann.openView()?.content.callback_id === 'digest.add', { what: 'the form' });
    await ann.submit('digest.add', {});
    await world.slack.until(() => seen(world).some(({ text }) => text.includes('set up the digest')));
    expect(seen(world).map(({ thread_ts: thread }) => thread)).toEqual([ts]);
  });

  test('with other words has the three most likely buttons, which run', async ({ world }) => {
    await mention(world, '@deckhand what was deployed last week');
    const answer = await answered(world, 'Which of these did you mean?');
    expect(labels(answer)).toHaveLength(3);
    expect(labels(answer)).toContain('activity');
    const at = labels(answer).indexOf('activity');
    const button = { actionId: `start:at-once#${at}` };
    await world.as('member').click({ channel: CHANNEL, ts: answer?.ts ?? '' }, button);
    expect(await answered(world, 'nothing happened')).toBeDefined();
  });

  test('with other words that name a project offers the command with it', async ({ world }) => {
    await mention(world, '@deckhand is the storefront ok?');
    const answer = await answered(world, 'Which of these did you mean?');
    expect(labels(answer)[0]).toBe('test storefront');
  });

  test('inside a sentence does nothing by itself, and offers what it may mean', async ({ world }) => {
    const { ts } = await mention(world, 'we should let @deckhand test storefront');
    const answer = await answered(world, 'Which of these did you mean?');
    expect(labels(answer)[0]).toBe('test storefront');
    expect(seen(world)).toEqual([]);
    await world.as('member').click({ channel: CHANNEL, ts: answer?.ts ?? '' }, { actionId: 'start:run#0' });
    await ended(world);
    expect(seen(world)[0]?.thread_ts).toBe(ts);
  });

  test('shows invoices to the one who asked alone', async ({ world }) => {
    await world.app.workspaces.open(TEAM).roles.set({
      admin: [PEOPLE.admin],
      operator: [],
      billing: [PEOPLE.billing],
      changedBy: PEOPLE.admin,
      changedAt: 0,
    });
    await mention(world, '@deckhand invoices', { who: 'billing' });
    await world.slack.until(() => answers(world, 'billing').length > 0, { what: 'the invoices' });
    expect(seen(world)).toEqual([]);
  });

  test('that Slack sends again is carried out once', async ({ world }) => {
    await mention(world, '@deckhand test storefront');
    await ended(world);
    const first = world.slack.deliveries.findLast(({ name }) => name === 'app_mention');
    expect(first && (await world.slack.redeliver(first)).outcome).toBe('ok');
    await mention(world, '@deckhand projects');
    await answered(world, 'Storefront');
    expect(JSON.stringify(answers(world))).not.toContain('already');
    const runs = world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.includes('test'),
    );
    expect(runs).toHaveLength(1);
  });

  test('of one message starts one run, however many events tell of it', async ({ world }) => {
    const { ts } = await mention(world, '@deckhand test storefront');
    await ended(world);
    const twin = { text: '<@U0BOT> test storefront', ts };
    const edited = { edited: { user: PEOPLE.member, ts: '1700000001.000000' } };
    const resent = { text: '<@U0BOT> server show web-1 storefront', client_msg_id: 'b1946ac9-2f4d-4d2c' };
    const later = { ...resent, ts: '1700000000.000300' };
    for (const parts of [twin, { ...twin, ...edited }, { ...twin, client_msg_id: 'c1' }, resent, later])
      await sendJson(world, mentionEvent(parts, `Ev0${randomUUID()}`));
    await sendJson(world, mentionEvent({ text: '<@U0BOT> projects', ts: '1700000000.000400' }, 'Ev0NEXT'));
    await world.slack.until(() => answers(world).length >= 2, { what: 'the server and the projects' });
    const runs = world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.includes('test'),
    );
    expect(runs).toHaveLength(1);
    expect(answers(world)).toHaveLength(2);
  });

  test.for([
    ['no mention', { text: 'projects' }],
    ['a mention of somebody else', { text: '<@U0OTHER> projects', authorizations: [BOT] }],
    ['code', { text: 'type `<@U0BOT> projects`' }],
    ['a code block', { text: 'like this:\n```\n<@U0BOT> projects\n```\nor so' }],
    ['a quotation', { text: '&gt; <@U0BOT> projects\nwho was that?' }],
    ['a long quotation', { text: '&gt;&gt;&gt; she said\n<@U0BOT> projects' }],
    ['composed code', composed('section', { code: true })],
    [
      'a name composed as code',
      {
        blocks: [
          {
            type: 'rich_text',
            elements: [
              {
                type: 'rich_text_section',
                elements: [
                  { type: 'user', user_id: 'U0BOT', style: { code: true } },
                  { type: 'text', text: ' projects' },
                ],
              },
            ],
          },
        ],
      },
    ],
    ['a composed code block', composed('preformatted')],
    ['a composed quotation', composed('quote')],
  ] as const)('in a message that holds only %s asks for nothing', async ([_, parts], { world }) => {
    await sendJson(world, mentionEvent(parts, 'Ev0IGNORED'));
    const whoami = { text: '<@U0BOT> whoami', ts: '1700000000.000500' };
    await sendJson(world, mentionEvent(whoami, 'Ev0READ'));
    await answered(world, 'You are <@');
    // Whatever else was asked for has been answered then.
    await world.restart(async () => undefined);
    expect(answers(world)).toHaveLength(1);
    expect(seen(world)).toEqual([]);
  });

  test('is read as it was composed', async ({ world }) => {
    const blocks = [
      {
        type: 'rich_text',
        elements: [
          { type: 'rich_text_quote', elements: [{ type: 'text', text: 'is the storefront well?' }] },
          {
            type: 'rich_text_section',
            elements: [
              { type: 'user', user_id: 'U0BOT' },
              { type: 'text', text: '\n' },
            ],
          },
          {
            type: 'rich_text_list',
            style: 'bullet',
            elements: [
              {
                type: 'rich_text_section',
                elements: [
                  { type: 'text', text: 'projects ' },
                  { type: 'text', text: 'store', style: { bold: true } },
                ],
              },
            ],
          },
        ],
      },
    ];
    await sendJson(world, mentionEvent({ blocks, text: 'is not read' }));
    await answered(world, 'Storefront');
  });

  test('takes the address of a composed link, and not its label', async ({ world }) => {
    const url = `${world.service.baseUrl.replace('{account}', 'acme')}/projects/storefront`;
    const elements = [
      { type: 'user', user_id: 'U0BOT' },
      { type: 'text', text: ' activity ' },
      { type: 'link', url, text: 'our shop' },
    ];
    const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
    await sendJson(world, mentionEvent({ blocks }));
    await answered(world, '*Storefront* in `acme`');
  });

  test.for([
    ['an app', { bot_id: 'B0OTHER' }],
    ['an application without a person', { user: undefined, subtype: 'bot_message' }],
    ['an edited message', { edited: { user: PEOPLE.member, ts: '1700000000.000200' } }],
    ['text that is no text', { text: { evil: true } }],
    ['a hostile channel', { channel: '../C0' }],
  ] as const)('of %s is left alone', async ([_, parts], { world }) => {
    expect((await sendJson(world, mentionEvent(parts, 'Ev0IGNORED'))).status).toBe(200);
    const whoami = { text: '<@U0BOT> whoami', ts: '1700000000.000500' };
    expect((await sendJson(world, mentionEvent(whoami, 'Ev0READ'))).status).toBe(200);
    await answered(world, 'You');
    expect(JSON.stringify(answers(world))).not.toContain('Storefront');
  });

  test('in a direct message is answered there', async ({ world }) => {
    await world.app.workspaces
      .open(TEAM)
      .slack.sendDirectMessage(PEOPLE.member, { text: 'Hello', blocks: [] });
    const [greeting] = world.slack.dms(TEAM, PEOPLE.member);
    await sendJson(world, mentionEvent({ channel: greeting?.channel }));
    await answered(world, 'Storefront');
  });

  test('is answered where its event has no time', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await sendJson(world, { ...mentionEvent({}), event_time: undefined });
    await answered(world, 'Storefront');
  });
});

test.for([
  ['a person of another company', { team_id: 'T0FAR' }, 'Only people of the workspace that installed'],
  ['a single-channel guest', { guest: 'single' }, 'Single-channel guests cannot use Deckhand'],
] as const)('a mention by %s is refused, to them alone', async ([_, person, words], { world }) => {
  world.slack.addPerson(TEAM, { ...person, id: 'U0OUTSIDE' });
  world.slack.invite(TEAM, CHANNEL, 'U0OUTSIDE');
  world.slack.invite(TEAM, CHANNEL, 'bot');
  for (const text of ['@deckhand projects', '@deckhand what is this?', '@deckhand'])
    await world.slack.as(TEAM, 'U0OUTSIDE').postMessage(CHANNEL, text);
  const told = () => world.slack.ephemerals(TEAM, 'U0OUTSIDE').map(({ text }) => text);
  await world.slack.until(() => told().length === 3, { what: 'three refusals' });
  for (const text of told()) expect(text).toContain(words);
  expect(seen(world)).toEqual([]);
});
