import { describe, expect } from 'vitest';
import { defined } from '../../src/core/json.ts';
import { test } from '../support/fixtures.ts';
import { sendEvent } from '../support/signed.ts';
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
  slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => !/^Connected .+ with /.test(text));
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
  world.slack.until(() => seen(world).some(({ text }) => text.includes('both servers are reachable')), {
    what: 'the outcome',
  });

function sendMention(
  world: TestWorld,
  { authorizations, ...parts }: { authorizations?: readonly object[]; [name: string]: unknown },
  more: object = { event_time: 1_700_000_000 },
) {
  const said = { user: PEOPLE.member, text: '<@U0BOT> projects', ts: '1700000000.000100', channel: CHANNEL };
  return sendEvent(world, { type: 'app_mention', ...said, ...parts }, { authorizations, ...more });
}

const BOT = { team_id: TEAM, user_id: 'U0BOT', is_bot: true };

/** A message as the composer sends it, of these parts. */
const composed = (...elements: object[]) => ({ blocks: [{ type: 'rich_text', elements }] });
const part = (kind: string, ...elements: object[]) => ({ type: `rich_text_${kind}`, elements });
const BY_USER = { type: 'user', user_id: 'U0BOT' };
const said = (text: string, style?: object) => ({ type: 'text', text, style });

/** Messages that ask for nothing. */
const IGNORED: Record<string, object> = {
  'no mention': { text: 'projects' },
  'a mention of somebody else': { text: '<@U0OTHER> projects', authorizations: [BOT] },
  code: { text: 'type `<@U0BOT> projects`' },
  'a code block': { text: 'like this:\n```\n<@U0BOT> projects\n```\nor so' },
  'a quotation': { text: '&gt; <@U0BOT> projects\nwho was that?' },
  'a long quotation': { text: '&gt;&gt;&gt; she said\n<@U0BOT> projects' },
  'composed code': composed(part('section', said('<@U0BOT> projects', { code: true }))),
  'a name composed as code': composed(
    part('section', { ...BY_USER, style: { code: true } }, said(' projects')),
  ),
  'a composed code block': composed(part('preformatted', BY_USER, said(' projects'))),
  'a composed quotation': composed(part('quote', BY_USER, said(' projects'))),
  'an app': { bot_id: 'B0OTHER' },
  'an application without a person': { user: undefined, subtype: 'bot_message' },
  'an edit of an old message': { edited: { user: PEOPLE.member, ts: '1700000000.000200' } },
  'text that is no text': { text: { evil: true } },
  'a hostile channel': { channel: '../C0' },
};

describe('a mention', () => {
  test.override({ connected: true });

  test('of a test shows the run in its own thread, or in the thread that it is in', async ({ world }) => {
    const { ts } = await mention(world, '@deckhand test storefront');
    await ended(world);
    await world.slack.until(() => seen(world).length > 1, { what: 'the progress' });
    expect(seen(world).map(({ thread_ts: thread }) => thread)).toEqual(seen(world).map(() => ts));
    expect(JSON.stringify(seen(world))).toContain('web-1');
    await mention(world, '@deckhand test billing-api', { thread: ts });
    await world.slack.until(() => JSON.stringify(seen(world)).includes('Billing API'), { what: 'the other' });
    expect(seen(world).map(({ thread_ts: thread }) => thread)).toEqual(seen(world).map(() => ts));
    await mention(world, '@deckhand projects', { thread: ts });
    expect((await answered(world, 'Storefront'))?.thread_ts).toBe(ts);
  });

  test.for([
    ['hey @deckhand projects?', 'Storefront'],
    ['@deckhand please `/deckhand projects store`!', 'Storefront'],
    ['@deckhand', 'You are connected'],
    ['hey @deckhand please\n\n• projects store\nthanks', 'Storefront'],
    ['@deckhand\n```\nprojects store\n```', 'Storefront'],
    ['as in `@deckhand test`:\n@deckhand projects store @deckhand', 'Storefront'],
    ['projects @deckhand', 'Which of these did you mean?'],
  ] as const)('reads "%s"', async ([text, words], { world }) => {
    await mention(world, text);
    expect(await answered(world, words)).toBeDefined();
  });

  test('of a command with a form offers the form, whose outcome is on the card of the channel', async ({
    world,
  }) => {
    await mention(world, '@deckhand digest add', { who: 'admin' });
    const answer = await answered(world, 'Open the form', 'admin');
    const ann = world.as('admin');
    await ann.click({ channel: CHANNEL, ts: answer?.ts ?? '' }, { actionId: 'start:at-once' });
    await world.slack.until(() => ann.openView()?.content.callback_id === 'digest.add', { what: 'the form' });
    await ann.submit('digest.add', {});
    // Slack shows no private answer in a thread that has not begun.
    expect((await answered(world, 'Set up: the digest', 'admin'))?.thread_ts).toBeUndefined();
    const [card, line, ...others] = seen(world);
    expect([card?.text, line?.text]).toEqual([
      expect.stringContaining('A digest'),
      expect.stringContaining('set up the digest'),
    ]);
    expect([line?.thread_ts, ...others]).toEqual([card?.ts]);
  });

  test('with other words has the three most likely buttons, which run', async ({ world }) => {
    await mention(world, '@deckhand lorem ipsum');
    const answer = await answered(world, 'Which of these did you mean?');
    expect(labels(answer)).toHaveLength(3);
    expect(labels(answer)).toContain('activity');
    const at = labels(answer).indexOf('activity');
    const button = { actionId: `start:at-once#${at}` };
    await world.as('member').click({ channel: CHANNEL, ts: answer?.ts ?? '' }, button);
    expect(await answered(world, 'nothing happened')).toBeDefined();
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

  test('of one message starts one run, however many events tell of it', async ({ world }) => {
    const { ts } = await mention(world, '@deckhand test storefront');
    await ended(world);
    const twin = { text: '<@U0BOT> test storefront', ts };
    const edited = { edited: { user: PEOPLE.member, ts: '1700000001.000000' } };
    const resent = { text: '<@U0BOT> server show web-1 storefront', client_msg_id: 'b1946ac9-2f4d-4d2c' };
    const later = { ...resent, ts: '1700000000.000300' };
    for (const parts of [twin, { ...twin, ...edited }, { ...twin, client_msg_id: 'c1' }, resent, later])
      await sendMention(world, parts);
    await sendMention(world, { ts: '1700000000.000400' });
    await world.slack.until(() => answers(world).length >= 2, { what: 'the server and the projects' });
    const runs = world.service.requests.all.filter(
      ({ method, path }) => method === 'POST' && path.includes('test'),
    );
    expect(runs).toHaveLength(1);
    expect(answers(world)).toHaveLength(2);
  });

  test('that an edit adds or corrects counts once, with its first words', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const ben = world.as('member');
    let expected = 0;
    const untilAnswered = (what: string) => {
      expected += 1;
      return world.slack.until(() => answers(world).length >= expected, { what: `an answer to "${what}"` });
    };
    for (const versions of [
      ['projects', '+@deckhand projects', '@deckhand projects store'],
      ['+@deckhand', '+@deckhand projects', '@deckhand', '@deckhand test storefront'],
      ['`@deckhand projects`', '+and @deckhand', '@deckhand test storefront'],
      ['+@deckhand projects', '@deckhand test storefront', 'projects'],
    ]) {
      let ts: string | undefined;
      for (const version of versions) {
        const text = version.replace(/^\+/, '');
        ({ ts } = await (ts === undefined
          ? ben.postMessage(CHANNEL, text)
          : ben.editMessage({ channel: CHANNEL, ts }, text)));
        if (version !== text) await untilAnswered(text);
      }
    }
    await mention(world, '@deckhand whoami');
    await untilAnswered('whoami');
    await world.restart(async () => undefined);
    expect(answers(world)).toHaveLength(expected);
    expect(seen(world)).toEqual([]);
  });

  test('in code, in a quotation, by an app or in an old message that is edited asks for nothing', async ({
    world,
  }) => {
    for (const [at, parts] of Object.values(IGNORED).entries()) {
      const { status } = await sendMention(world, { ts: `1700000000.0001${10 + at}`, ...parts });
      expect(status).toBe(200);
    }
    await sendMention(world, { text: '<@U0BOT> whoami', ts: '1700000000.000500' });
    await answered(world, 'You are <@');
    // Whatever else was asked for has been answered then.
    await world.restart(async () => undefined);
    expect(answers(world)).toHaveLength(1);
    expect(seen(world)).toEqual([]);
  });

  test('is read as it was composed, with the address of a link and not its label', async ({ world }) => {
    const url = `${world.service.baseUrl.replace('{account}', 'acme')}/projects/storefront`;
    const listed = part('section', said('activity '), { type: 'link', url, text: 'our shop' });
    const blocks = composed(
      part('quote', said('is the storefront well?')),
      part('section', BY_USER, said('\n')),
      { ...part('list', listed), style: 'bullet' },
    );
    await sendMention(world, { ...blocks, text: 'is not read' });
    await answered(world, 'Activity of Storefront in acme');
  });

  test('in a direct message is answered there, also where its event has no time', async ({ world }) => {
    const { slack } = world.app.workspaces.open(TEAM);
    await slack.sendDirectMessage(PEOPLE.member, { text: 'Hello', blocks: [] });
    const [greeting] = world.slack.dms(TEAM, PEOPLE.member);
    await sendMention(world, { channel: greeting?.channel }, { event_time: undefined });
    expect((await answered(world, 'Storefront'))?.channel).toBe(greeting?.channel);
  });

  test.for([
    ['test storefront', 'was deleted, so nothing was posted'],
    ['use storefront', 'bound this channel to Storefront'],
  ] as const)(
    'whose message is deleted at once leaves nothing in the channel: %s',
    async ([line, words], { world }) => {
      const ann = world.as('admin');
      const { ts: root } = await ann.postMessage(CHANNEL, 'a thread');
      for (const [at, thread] of [undefined, root].entries()) {
        const message = await mention(world, `@deckhand ${line}`, { who: 'admin', ...defined({ thread }) });
        ann.deleteMessage({ channel: CHANNEL, ts: message.ts });
        if (thread !== undefined) ann.deleteMessage({ channel: CHANNEL, ts: thread });
        const told = () => answers(world, 'admin').filter(({ text }) => text.includes(words));
        await world.slack.until(() => told().length > at, { what: 'the private answer' });
      }
      await world.restart(async () => undefined);
      expect(seen(world)).toEqual([]);
      expect(world.slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(2);
      expect(await world.app.workspaces.open(TEAM).schedules.all()).toEqual([]);
      expect(world.service.requests.all.filter(({ method }) => method === 'POST')).toEqual([]);
    },
  );

  test('whose message is deleted at once sets up what it asked for, on the card of the channel', async ({
    world,
  }) => {
    const message = await mention(world, '@deckhand watch storefront', { who: 'admin' });
    world.as('admin').deleteMessage({ channel: CHANNEL, ts: message.ts });
    await answered(world, 'This channel now hears', 'admin');
    expect(seen(world).map(({ text }) => text)).toEqual([
      'This channel follows Storefront: all events.',
      expect.stringContaining('set up the watch of Storefront'),
    ]);
  });

  test('by a person of another company is refused, to them alone', async ({ world }) => {
    world.slack.addPerson(TEAM, { team_id: 'T0FAR', id: 'U0OUTSIDE' });
    world.slack.invite(TEAM, CHANNEL, 'U0OUTSIDE');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.slack.as(TEAM, 'U0OUTSIDE').postMessage(CHANNEL, '@deckhand what is this?');
    const told = () => world.slack.ephemerals(TEAM, 'U0OUTSIDE').map(({ text }) => text);
    await world.slack.until(() => told().length === 1, { what: 'the refusal' });
    expect(told()[0]).toContain('Only people of the workspace that installed');
    expect(seen(world)).toEqual([]);
  });
});
