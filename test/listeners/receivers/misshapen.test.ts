import { describe, expect } from 'vitest';
import { isObject } from '../../../src/core/json.ts';
import { test } from '../../support/fixtures.ts';
import { byLength } from '../../support/length.ts';
import { type Answer, sendJson, sendPayload, sendSigned } from '../../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const URL_OF_ANSWER = 'http://127.0.0.1:9/actions/T/1/x';
const PERSON = {
  team: { id: TEAM },
  user: { id: PEOPLE.member, team_id: TEAM },
  is_enterprise_install: false,
  trigger_id: 'trigger',
};
const PLACE = { channel: { id: CHANNEL }, response_url: URL_OF_ANSWER };
const VIEW = {
  id: 'V1',
  hash: 'h',
  type: 'modal',
  team_id: TEAM,
  app_installed_team_id: TEAM,
  callback_id: 'settings',
  private_metadata: JSON.stringify({ channel: CHANNEL }),
  title: { type: 'plain_text', text: 'Form' },
  blocks: [{ type: 'input', block_id: 'zone', element: { type: 'plain_text_input', action_id: 'zone' } }],
  state: { values: { zone: { zone: { type: 'plain_text_input', value: 'UTC' } } } },
};
const INTERACTIONS: ReadonlyArray<Record<string, unknown>> = [
  {
    type: 'block_actions',
    ...PERSON,
    ...PLACE,
    actions: [{ type: 'button', action_id: 'help:all', block_id: 'b', value: 'x' }],
    container: { message_ts: '1.1', channel_id: CHANNEL },
    message: { ts: '1.1', text: 'x', blocks: [] },
    view: VIEW,
  },
  { type: 'view_submission', ...PERSON, view: VIEW },
  { type: 'view_closed', ...PERSON, view: VIEW, is_cleared: false },
  { type: 'block_suggestion', ...PERSON, action_id: 'project', block_id: 'b', value: 'x', view: VIEW },
  { type: 'shortcut', ...PERSON, callback_id: 'test_project' },
  { type: 'message_action', ...PERSON, ...PLACE, callback_id: 'x', message: { ts: '1.1', text: 'x' } },
];
const COMMAND: Readonly<Record<string, unknown>> = {
  command: '/deckhand',
  text: 'help',
  team_id: TEAM,
  user_id: PEOPLE.member,
  channel_id: CHANNEL,
  trigger_id: 'trigger',
  response_url: URL_OF_ANSWER,
  is_enterprise_install: 'false',
  enterprise_id: '',
};
const EVENTS: ReadonlyArray<Record<string, unknown>> = [
  { type: 'app_home_opened', user: PEOPLE.member, tab: 'home', channel: 'D1' },
  { type: 'app_mention', user: PEOPLE.member, channel: CHANNEL, ts: '1.1', text: '<@U0BOT> help' },
  {
    type: 'link_shared',
    user: PEOPLE.member,
    channel: CHANNEL,
    message_ts: '1.1',
    links: [{ domain: 'a.example', url: 'https://a.example/x' }],
  },
  {
    type: 'function_executed',
    function: { callback_id: 'test_project' },
    inputs: { project: 'x' },
    function_execution_id: 'Fx1',
    bot_access_token: 'xwfp-1',
  },
  { type: 'entity_details_requested', user: PEOPLE.member, trigger_id: 't', entity_url: 'https://a.example' },
  { type: 'channel_id_changed', old_channel_id: 'C1', new_channel_id: 'C2' },
  { type: 'tokens_revoked', tokens: { bot: ['U9'], oauth: [] } },
  { type: 'app_uninstalled' },
];

function envelope(event: unknown): Record<string, unknown> {
  const authorizations = [{ team_id: TEAM, enterprise_id: null, is_enterprise_install: false }];
  return { type: 'event_callback', event_id: 'Ev1', event_time: 1, team_id: TEAM, authorizations, event };
}

const JUNK: readonly unknown[] = [
  ...[undefined, null, '', 'x', ' ', '/', '-', '\u0000', '\ud800', '__proto__', 'x'.repeat(3_000)],
  ...[
    { toString: 1, valueOf: 1 },
    7,
    -1e308,
    true,
    [],
    [null],
    {},
    [[[[[]]]]],
    { id: [[]] },
    { id: { id: {} } },
    { 0: null },
  ],
];

/** A value with each of its parts, however deep, in turn replaced by each kind of junk. */
function* withJunk(value: unknown): Generator<unknown> {
  yield* JUNK;
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) for (const odd of withJunk(item)) yield value.with(at, odd);
  if (isObject(value))
    for (const [name, inner] of Object.entries(value))
      for (const odd of withJunk(inner)) yield { ...value, [name]: odd };
}

/** The short form tries some of them, spread over all parts. */
const STEP = byLength(7, 1);

/** Each answer that is no 200 and no 400, with what was sent. */
async function findFailures(
  payloads: Iterable<unknown>,
  send: (payload: object) => Promise<Answer>,
  step = STEP,
): Promise<string[]> {
  const failures: string[] = [];
  const chosen = [...payloads].filter((_, at) => at % step === 0);
  const queue = chosen.values();
  const work = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      if (typeof next.value !== 'object' || next.value === null) continue;
      const { status } = await send(next.value);
      if (status !== 200 && status !== 400) failures.push(`${status} ${JSON.stringify(next.value)}`);
    }
  };
  await Promise.all(Array.from({ length: 25 }, work));
  return failures;
}

function sendCommand(world: TestWorld, payload: object): Promise<Answer> {
  const pairs = Object.entries(payload).flatMap(
    ([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  );
  return sendSigned(world, new URLSearchParams(pairs).toString());
}

describe('a signed payload with junk in place of any of its parts is taken or refused, and never a failure', () => {
  test('a command', async ({ world }) => {
    expect(await findFailures(withJunk(COMMAND), (body) => sendCommand(world, body))).toEqual([]);
    // Bolt also takes a command as JSON, and looks for its listener by the name.
    expect(await findFailures(withJunk(COMMAND), (body) => sendJson(world, body), 1)).toEqual([]);
  });

  test.for(INTERACTIONS)('$type', async (payload, { world }) => {
    expect(await findFailures(withJunk(payload), (body) => sendPayload(world, body))).toEqual([]);
  });

  test.for(EVENTS)('the event $type', async (event, { world }) => {
    expect(await findFailures(withJunk(envelope(event)), (body) => sendJson(world, body))).toEqual([]);
    expect(world.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

test('a payload that lacks what its type has, or has it in another shape, is refused', async ({ world }) => {
  const { team_id: _, ...nowhere } = COMMAND;
  const { function_execution_id: __, ...step } = EVENTS[3] ?? {};
  const odd = [[[[[]]]]];
  const refused = [
    sendCommand(world, nowhere),
    sendJson(world, { ...COMMAND, team_id: odd }),
    sendJson(world, { type: 'url_verification', challenge: { toString: 1 } }),
    ...INTERACTIONS.map((payload) => sendPayload(world, { ...payload, user: odd })),
    sendPayload(world, { type: 'shortcut', user: { id: 'U1' }, callback_id: 'x' }),
    // Bolt looks at the parts first, and finds the listener of another type.
    sendPayload(world, { ...INTERACTIONS[4], name: 'x', action_id: 'x' }),
    ...[step, { type: 'app_home_opened' }, { type: odd }].map((event) => sendJson(world, envelope(event))),
    sendJson(world, { ...envelope(EVENTS[0]), team_id: odd }),
    sendJson(world, { ...envelope(EVENTS[0]), authorizations: [{ team_id: odd }] }),
    sendJson(world, { ...envelope(EVENTS[0]), team_id: undefined, authorizations: null }),
  ];
  const answers = await Promise.all(refused);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
  const limited = await sendJson(world, { type: 'app_rate_limited', team_id: { toString: 1 } });
  expect(limited.status).toBe(200);
});
