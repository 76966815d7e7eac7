import fc from 'fast-check';
import { anyText } from '../support/arbitraries.ts';
import { hostileText } from '../support/hostile.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import { mcpCase, mention, probe } from './other-doors.ts';
import { commands, idOf, JSON_TYPE, junk, maybe, mostly, oftenOf, words } from './pieces.ts';

/** One request: to the front door and the assistant's signed like any other, to the port of metrics as it is. */
export type FuzzCase =
  | { door: 'slack' | 'mcp'; type: string; body: string }
  | { door: 'metrics'; method: string; path: string; body: string };
export type FuzzDoor = FuzzCase['door'];

const actionIds = commands.flatMap(({ actions = [] }) => actions.map(({ actionId }) => actionId));
const views = commands.flatMap(({ submissions = [] }) => submissions.map(({ callbackId }) => callbackId));
const sources = commands.flatMap(({ optionSources = [] }) => optionSources.map(({ actionId }) => actionId));
const shortcuts = commands.flatMap(({ shortcuts: some = [] }) => some.map(({ callbackId }) => callbackId));
const fields = 'account email api_key name hook_type flags admin project cadence zone'.split(' ');
const events = 'app_home_opened entity_details_requested link_shared tokens_revoked message odd'.split(' ');

const trigger = fc.uuid();
const user = mostly(fc.constantFrom(...Object.values(PEOPLE)).map((id) => ({ id, team_id: TEAM })));
const team = mostly(fc.constant({ id: TEAM, domain: 'house' }));
const channel = mostly(fc.constant({ id: CHANNEL, name: 'deploys' }));
const metadata = fc.oneof(
  fc.constant(JSON.stringify({ channel: CHANNEL, account: 'acme' })),
  junk.map((value) => JSON.stringify(value) ?? ''),
  hostileText,
);

const element = fc.oneof(
  fc.record({ type: fc.constant('plain_text_input'), value: mostly(hostileText) }),
  fc.record({
    type: fc.constant('static_select'),
    selected_option: mostly(fc.record({ value: hostileText })),
  }),
  fc.record({ type: fc.constant('multi_users_select'), selected_users: mostly(fc.array(hostileText)) }),
  junk,
);
const state = mostly(
  fc.record({
    values: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...fields), hostileText), element), { maxLength: 6 })
      .map((pairs) => Object.fromEntries(pairs.map(([name, value]) => [name, { [name]: value }]))),
  }),
);
const blocks = mostly(
  fc.array(
    fc.oneof(
      fc.constantFrom(...fields).map((block_id) => ({ block_id, type: 'input' })),
      junk,
    ),
  ),
);
const view = mostly(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 20 }),
    hash: fc.string({ maxLength: 20 }),
    type: fc.constant('modal'),
    callback_id: idOf(views),
    private_metadata: metadata,
    title: mostly(fc.constant({ type: 'plain_text', text: 'Form' })),
    blocks,
    state,
  }),
);

const slash = fc.record({
  command: mostly(fc.constant('/deckhand')),
  text: fc
    .tuple(idOf(commands.map(({ name }) => name)), fc.array(words, { maxLength: 3 }))
    .map((all) => all.flat().join(' ')),
  team_id: mostly(fc.constant(TEAM)),
  user_id: mostly(fc.constantFrom(...Object.values(PEOPLE))),
  channel_id: mostly(fc.constant(CHANNEL)),
  trigger_id: trigger,
  response_url: mostly(fc.constant('http://127.0.0.1:9/commands/T/1/x')),
});
const value = fc.oneof(
  junk.map((some) => JSON.stringify(some) ?? ''),
  hostileText,
  fc
    .record({ account: hostileText, project: junk, target: junk, page: junk, id: hostileText })
    .map((some) => JSON.stringify(some)),
);
const action = fc.record({
  action_id: idOf(actionIds),
  block_id: fc.oneof(metadata, hostileText),
  type: fc.constantFrom('button', 'static_select'),
  value: mostly(value),
  action_ts: fc.constant('1'),
});

const interaction = { team, user, channel, trigger_id: trigger };
const payload = fc.oneof(
  fc.record({
    ...interaction,
    type: fc.constant('block_actions'),
    actions: mostly(fc.array(action, { maxLength: 2 })),
    view: maybe(view),
  }),
  fc.record({ ...interaction, type: fc.constant('view_submission'), view }),
  fc.record({ ...interaction, type: fc.constant('view_closed'), view }),
  fc.record({
    ...interaction,
    type: fc.constant('block_suggestion'),
    action_id: idOf(sources),
    block_id: metadata,
    value: hostileText,
  }),
  fc.record({
    ...interaction,
    type: fc.constantFrom('shortcut', 'message_action'),
    callback_id: idOf([...shortcuts, 'x']),
    message: junk,
  }),
  fc.record({ type: hostileText }),
  junk,
);

const event = fc.record({
  type: mostly(fc.constant('event_callback')),
  event_id: fc.uuid(),
  event_time: mostly(fc.integer()),
  team_id: mostly(fc.constantFrom(TEAM, 'T0OTHER')),
  authorizations: mostly(fc.constant([{ team_id: 'T0OTHER' }])),
  event: mostly(
    fc.record({
      type: fc.constantFrom(...events),
      user: mostly(fc.constantFrom(...Object.values(PEOPLE))),
      channel: mostly(fc.constant(CHANNEL)),
      links: junk,
      trigger_id: mostly(fc.string()),
      entity_url: mostly(fc.webUrl()),
      tokens: junk,
      team_ids: junk,
    }),
  ),
});

const FORM = 'application/x-www-form-urlencoded';
const asForm = (pairs: Record<string, unknown>): string => {
  const form = new URLSearchParams();
  for (const [name, some] of Object.entries(pairs))
    form.append(name, typeof some === 'string' ? some : JSON.stringify(some ?? null));
  return form.toString();
};

const asJson = (body: unknown) => ({ type: JSON_TYPE, body: JSON.stringify(body) });
const signedCase = oftenOf<{ type: string; body: string }>(
  [4, slash.map((body) => ({ type: FORM, body: asForm(body) }))],
  [6, payload.map((some) => ({ type: FORM, body: asForm({ payload: JSON.stringify(some) }) }))],
  [2, event.map(asJson)],
  [2, mention.map(asJson)],
  [
    2,
    fc.record({
      type: fc.constantFrom(FORM, JSON_TYPE, 'text/plain', 'application/json; charset=nonsense', 'a'),
      body: fc.oneof(hostileText, fc.json(), anyText()),
    }),
  ],
);

export const fuzzCase = oftenOf<FuzzCase>(
  [14, signedCase.map((one) => ({ door: 'slack', ...one }))],
  [3, mcpCase.map((one) => ({ door: 'mcp', ...one }))],
  [2, probe],
);

/** What the service answers instead of the truth. */
export const answerChange = oftenOf<(body: string) => string>(
  [6, fc.constant((body) => body)],
  [1, fc.string().map((text) => () => text)],
  [1, fc.json().map((text) => () => text)],
  [1, fc.double({ min: 0, max: 1 }).map((part) => (body) => body.slice(0, body.length * part))],
  [
    4,
    fc.tuple(fc.nat(40), junk).map(
      ([at, some]) =>
        (body) =>
          withJunkAt(body, at, some),
    ),
  ],
);

/** Puts something else in place of the n-th value. */
function withJunkAt(body: string, at: number, some: unknown): string {
  let left = at;
  return (
    JSON.stringify(JSON.parse(body), (key, part: unknown) => {
      if (key === '') return part;
      left -= 1;
      return left === 0 ? some : part;
    }) ?? ''
  );
}
