import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BRISK } from '../support/faults.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { API_KEY, CHANNEL, EMAIL, openTestWorld, TEAM, type TestWorld } from '../support/test-world.ts';
import { type Collector, type ReceivedSpan, startCollector, traceTo } from './collector.ts';

const CLIENT = 3;
const ERROR = 2;

/** Names from the root down to the span, joined. */
function wayTo(all: readonly ReceivedSpan[], span: ReceivedSpan): string {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? span.name : `${wayTo(all, parent)} > ${span.name}`;
}

describe('traces of what people ask for', () => {
  let collector: Collector;
  let world: TestWorld;
  let spans: () => Promise<ReceivedSpan[]>;

  beforeEach(async () => {
    collector = await startCollector();
    const tracing = await traceTo(collector);
    world = await openTestWorld({ ...BRISK, tracing, connected: true });
    onTestFinished(() => world.stop());
    spans = async () => {
      await world.app.stop(10_000);
      await tracing.close();
      return collector.spans();
    };
  });

  /** The spans of the trace that has the one span of this name. */
  function traceWith(all: readonly ReceivedSpan[], name: string): ReceivedSpan[] {
    const [only, second] = all.filter((span) => span.name === name);
    expect(only).toBeDefined();
    expect(second).toBeUndefined();
    return all.filter(({ traceId }) => traceId === only?.traceId);
  }

  it('a command, its call of the service and its answer are one trace, without what was typed', async () => {
    const member = world.as('member');
    const odd = [`test storefront ${'k'.repeat(40)}`, 'nonsense sesame@example.com', 'projects storefront'];
    for (const words of [...odd, 'whoami']) await member.command(CHANNEL, `/deckhand ${words}`);
    await world.slack.until(() => world.slack.ephemerals(TEAM, 'U0BEN').length > 3);

    const trace = traceWith(await spans(), 'command whoami');
    expect(trace.map((span) => wayTo(trace, span))).toEqual(
      expect.arrayContaining([
        'command whoami',
        'command whoami > GET getProfile',
        'command whoami > POST response_url',
      ]),
    );
    const call = trace.find(({ name }) => name === 'GET getProfile');
    expect(call?.kind).toBe(CLIENT);
    // The address of the service would name the account.
    expect(call?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'deckhand.operation': 'getProfile',
    });
    expect(trace.find(({ name }) => name === 'command whoami')?.attributes).toEqual({
      'deckhand.command': 'whoami',
      'deckhand.workspace': TEAM,
      'deckhand.outcome': 'done',
    });
    expect(collector.resource()).toMatchObject({
      'service.name': 'deckhand',
      'service.version': '0.0.0-test',
    });
    const { SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET, ENCRYPTION_KEYS } = world.config;
    const secrets = [
      API_KEY,
      EMAIL,
      SLACK_BOT_TOKEN,
      SLACK_SIGNING_SECRET,
      ENCRYPTION_KEYS,
      'Collector-Secret',
    ];
    const typed = ['kkkk', 'nonsense', 'sesame', 'storefront', 'commands/', 'Basic '];
    const sent = collector.requests.map(({ body }) => body.toString()).join();
    for (const secret of [...secrets, ...typed].map(String)) expect(sent).not.toContain(secret);
  });

  it('a test run is one trace from the command through its stored jobs to its posts, also over a restart', async () => {
    world.service.world.setRunOutcome({ account: 'acme', project: 'storefront', durationMs: 40_000 });
    const looked = world.service.requests.nextArrival(({ path }) => path.includes('/test_access/'));
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await looked;
    await world.restart(async () => undefined);
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL)[0]?.text.includes('both servers are reachable'),
    );

    const trace = traceWith(await spans(), 'command test');
    const follow = 'process requests > command test > process follow-test';
    const ways = trace.map((span) => wayTo(trace, span));
    expect(ways).toEqual(
      expect.arrayContaining([
        'process requests > command test > POST chat.postMessage',
        `${follow} > POST startTestAccess`,
        `${follow} > GET getTestAccess`,
        `${follow} > POST chat.update`,
        `${follow} > POST chat.postMessage`,
      ]),
    );
    expect(
      trace
        .filter(({ name }) => name === 'process follow-test')
        .map((span) => span.attributes['deckhand.outcome']),
    ).toEqual(['handed_back', 'done']);
  });

  it('what fails says which kind of failure it was', async () => {
    world.service.faults.add({ path: '/acme/profile', status: 500, times: 9 });
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await world.slack.until(() => world.slack.ephemerals(TEAM, 'U0BEN').length > 0);

    const trace = traceWith(await spans(), 'command whoami');
    const calls = trace.filter(({ name }) => name === 'GET getProfile');
    expect(calls.at(-1)?.attributes).toMatchObject({ 'http.request.resend_count': 3 });
    expect(calls[0]).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': 'unexpected', 'http.response.status_code': 500 },
    });
    expect(trace.find(({ name }) => name === 'command whoami')).toMatchObject({
      status: { code: ERROR },
      attributes: { 'deckhand.outcome': 'failed' },
    });
  });
});

it('says that the last spans were lost where the collector does not answer', async () => {
  const lines: string[] = [];
  const clock = createManualClock('2026-03-02T09:00:00Z');
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const collector = await startCollector(200, () => {
    ask();
    return new Promise(() => undefined);
  });
  const tracing = await traceTo(collector, (line) => lines.push(line), clock);
  await tracing.trace({ name: 'work', kind: 'internal' }, async () => undefined);

  const closed = tracing.close();
  await asked;
  await clock.advance(5_000);
  await closed;
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', event: 'traces_not_sent', reason: 'timeout' },
  ]);
});
