import fc from 'fast-check';
import { TOOLS } from '../../src/commands/mcp/tools.ts';
import { hostileText } from '../support/hostile.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import { commands, idOf, JSON_TYPE, junk, maybe, mostly, oftenOf, words } from './pieces.ts';

const ts = mostly(fc.constantFrom('1700000000.000100', '1.1'));
export const mention = fc.record({
  type: fc.constant('event_callback'),
  event_id: fc.uuid(),
  event_time: fc.integer(),
  team_id: fc.constant(TEAM),
  authorizations: mostly(fc.array(fc.record({ user_id: mostly(fc.constant('U0BOT')) }), { maxLength: 2 })),
  event: fc.record({
    type: fc.constant('app_mention'),
    user: mostly(fc.constantFrom(...Object.values(PEOPLE))),
    channel: mostly(fc.constant(CHANNEL)),
    text: mostly(
      fc
        .tuple(hostileText, idOf(commands.map(({ name }) => name)), fc.array(words, { maxLength: 3 }))
        .map(([before, name, more]) => `${before} <@U0BOT> ${[name, ...more].join(' ')}`),
    ),
    ts,
    thread_ts: maybe(ts),
    user_team: maybe(mostly(fc.constantFrom(TEAM, 'T0OTHER'))),
    bot_id: maybe(junk, 9),
    subtype: maybe(hostileText, 9),
    edited: maybe(junk, 9),
  }),
});

const identity = mostly(
  fc.record({
    user_id: mostly(fc.constantFrom(...Object.values(PEOPLE))),
    team_id: mostly(fc.constantFrom(TEAM, 'T0OTHER')),
    channel_id: maybe(mostly(fc.constant(CHANNEL))),
  }),
);
const toolCall = fc.record({
  name: idOf(TOOLS.map(({ name }) => name)),
  arguments: mostly(
    fc.record({
      project: maybe(mostly(fc.constantFrom('storefront', 'nonsense'))),
      account: maybe(junk),
      server: maybe(junk),
      range: maybe(junk),
    }),
  ),
  _meta: mostly(fc.record({ slack: identity })),
});
const rpc = fc.record({
  jsonrpc: mostly(fc.constant('2.0')),
  id: mostly(fc.oneof(fc.nat(), fc.uuid())),
  method: idOf(['tools/call', 'tools/call', 'tools/call', 'tools/list', 'initialize', 'ping']),
  params: mostly(toolCall),
});

/** Of the port of metrics. */
export const probe = fc.record({
  door: fc.constant('metrics' as const),
  method: oftenOf<string>([3, fc.constant('GET')], [1, fc.constantFrom('HEAD', 'POST', 'PUT', 'OPTIONS')]),
  path: oftenOf<string>(
    [3, fc.constantFrom('/metrics', '/healthz', '/readyz')],
    [1, fc.constantFrom('/slack/events', '/mcp', '/metrics/..', '//metrics')],
    [1, fc.webPath().map((path) => `/${path}?x=%`)],
    [1, hostileText.map((text) => `/${encodeURIComponent(text.toWellFormed())}`)],
  ),
  body: hostileText,
});

/** Of the assistant. */
export const mcpCase = fc.record({
  type: oftenOf<string>([9, fc.constant(JSON_TYPE)], [1, fc.constant('a')]),
  body: oftenOf([9, rpc.map((message) => JSON.stringify(message))], [1, fc.oneof(hostileText, fc.json())]),
});
