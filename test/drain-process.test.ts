import { request } from 'undici';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../sandbox/service/server.ts';
import type { LocalSlack } from '../sandbox/slack/local-slack.ts';
import { type DeckhandProcess, startDeckhand } from './support/deckhand-process.ts';
import { byLength } from './support/length.ts';
import { openProxy, type ServiceProxy } from './support/proxy.ts';
import { startSlack } from './support/start-slack.ts';
import { temporaryFolder } from './support/temporary.ts';
import {
  ACCOUNT,
  addTestAccount,
  CHANNEL,
  CREDENTIALS,
  connectAccount,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from './support/test-world.ts';

const LONG_MS = 36_000_000;

/** `drain.test.ts` ends the receiver of Socket Mode, in the test's own process. */
describe('a process behind signed requests that is told to end', () => {
  let service: SimulatedService;
  let slack: LocalSlack;
  /** Stands in front of Slack's Web API. */
  let proxy: ServiceProxy;
  let deckhand: DeckhandProcess;
  let env: Record<string, string>;

  beforeEach(async () => {
    service = await startSimulatedService({ speed: 20 });
    slack = await startSlack({ ackTimeoutMs: 3_000 });
    proxy = await openProxy();
    proxy.target = slack.origin;
    onTestFinished(async () => {
      await Promise.all([service.stop(), slack.stop(), proxy.close()]);
    });
    const { botToken } = furnish(slack);
    addTestAccount(service, undefined);
    env = {
      ...environment(slack, service, botToken, await temporaryFolder()),
      SLACK_API_URL: `${proxy.origin}/api/`,
    };
    await start();
    await connectAccount(slack);
  });

  async function start(): Promise<void> {
    deckhand = await startDeckhand(env);
    slack.deliverTo(`${deckhand.origin}/slack/events`);
  }

  /** From now on no answer to a post comes back until `release`. */
  function holdPosts(): { held: Promise<void>; release: () => void } {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    proxy.change = async (body, path) => {
      if (!path.endsWith('chat.postMessage')) return body;
      held.resolve();
      await released.promise;
      return body;
    };
    return { held: held.promise, release: released.resolve };
  }

  async function readiness(): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await request(`${deckhand.origin}/readyz`);
    return { status: statusCode, text: await body.text() };
  }

  const answers = () => slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);
  const bindings = (channel = CHANNEL) =>
    slack.messages(TEAM, channel).filter(({ text }) => text.includes('bound this channel'));
  const root = () => slack.messages(TEAM, CHANNEL).find(({ text }) => text.includes('Storefront'));

  it('answers what it can, leaves changes to the next, ends what it has begun, answers forms, hands its runs on, and is not hurried by a second signal', async () => {
    const ann = slack.as(TEAM, PEOPLE.admin);
    const ben = slack.as(TEAM, PEOPLE.member);
    service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: LONG_MS });
    const looked = service.requests.nextArrival(({ path }) => path.includes('/test_access/'));
    await ben.command(CHANNEL, '/deckhand test storefront');
    await looked;
    const { held, release } = holdPosts();
    await ann.command(CHANNEL, '/deckhand use billing-api');
    await held;
    const slow = (delayMs: number) => {
      service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs, times: 1 });
      return service.requests.nextArrival(({ path }) => path.includes('profile'));
    };
    // Answered last of all, so that nothing else keeps the process for it.
    const first = slow(3_000);
    await ben.command(CHANNEL, '/deckhand whoami');
    await first;
    await ann.command(CHANNEL, '/deckhand connect');
    await slack.until(() => ann.openView()?.content.callback_id === 'connect');
    const second = slow(500);
    const form = ann.submit('connect', CREDENTIALS);
    await second;

    deckhand.signal('SIGTERM');
    await expect.poll(readiness).toEqual({ status: 503, text: 'draining' });
    deckhand.signal('SIGTERM');
    expect((await ben.command(CHANNEL, '/deckhand projects')).outcome).toBe('ok');
    expect((await ann.command('C0BILLING', '/deckhand use storefront')).outcome).toBe('ok');
    expect((await readiness()).status).toBe(503);
    release();

    expect((await form).outcome).toBe('ok');
    expect(await deckhand.ended).toBe(0);
    for (const words of ['You use the shared key', '2 projects in'])
      expect(answers().filter((text) => text.includes(words))).toHaveLength(1);
    expect(bindings()).toHaveLength(1);
    expect(bindings('C0BILLING')).toHaveLength(0);
    expect(deckhand.log.at(-1)).toContain('"event":"stopped"');
    expect(deckhand.log.join()).not.toContain('drain_cut');

    await start();
    await slack.until(() => bindings('C0BILLING').length === 1);
    service.clock.advance(LONG_MS);
    await slack.until(() => root()?.text.includes('both servers are reachable'));
    const replies = () => slack.thread(TEAM, CHANNEL, root()?.ts ?? '').map(({ text }) => text);
    await slack.until(() => replies().some((text) => text.includes('The test took')));
    expect(new Set(replies()).size).toBe(replies().length);
    expect(bindings()).toHaveLength(1);
  });

  // It waits that time out, so it is for the long form.
  it.runIf(byLength(false, true))('ends in time although Slack never answers', async () => {
    const { held } = holdPosts();
    await slack.as(TEAM, PEOPLE.admin).command(CHANNEL, '/deckhand use billing-api');
    await held;
    const told = performance.now();
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
    // What is promised, and what Kubernetes and systemd go by: the one limit that a test may hold a clock to.
    expect(performance.now() - told).toBeLessThan(25_000);
  });
});
