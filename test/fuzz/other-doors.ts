import fc from 'fast-check';
import { TOOLS } from '../../src/commands/mcp/tools.ts';
import { hostileText } from '../support/hostile.ts';
import { CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import { commands, idOf, JSON_TYPE, junk, mostly, words } from './pieces.ts';

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
    thread_ts: fc.option(ts, { nil: undefined }),
    user_team: fc.option(mostly(fc.constantFrom(TEAM, 'T0OTHER')), { nil: undefined }),
    bot_id: fc.option(junk, { nil: undefined, freq: 9 }),
    subtype: fc.option(hostileText, { nil: undefined, freq: 9 }),
    edited: fc.option(junk, { nil: undefined, freq: 9 }),
  }),
});

const identity = mostly(
  fc.record({
    user_id: mostly(fc.constantFrom(...Object.values(PEOPLE))),
    team_id: mostly(fc.constantFrom(TEAM, 'T0OTHER')),
    channel_id: fc.option(mostly(fc.constant(CHANNEL)), { nil: undefined }),
  }),
);
const toolCall = fc.record({
  name: idOf(TOOLS.map(({ name }) => name)),
  arguments: mostly(
    fc.record({
      project: fc.option(mostly(fc.constantFrom('storefront', 'nonsense')), { nil: undefined }),
      account: fc.option(junk, { nil: undefined }),
      server: fc.option(junk, { nil: undefined }),
      range: fc.option(junk, { nil: undefined }),
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
  method: fc.oneof(
    { weight: 3, arbitrary: fc.constant('GET') },
    { weight: 1, arbitrary: fc.constantFrom('HEAD', 'POST', 'PUT', 'OPTIONS') },
  ),
  path: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('/metrics', '/healthz', '/readyz') },
    { weight: 1, arbitrary: fc.constantFrom('/slack/events', '/mcp', '/metrics/..', '//metrics') },
    { weight: 1, arbitrary: fc.webPath().map((path) => `/${path}?x=%`) },
    { weight: 1, arbitrary: hostileText.map((text) => `/${encodeURIComponent(text.toWellFormed())}`) },
  ),
  body: hostileText,
});

/** Of the assistant. */
export const mcpCase = fc.record({
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constant(JSON_TYPE) },
    { weight: 1, arbitrary: fc.constant('a') },
  ),
  body: fc.oneof(
    { weight: 9, arbitrary: rpc.map((message) => JSON.stringify(message)) },
    { weight: 1, arbitrary: fc.oneof(hostileText, fc.json()) },
  ),
});
