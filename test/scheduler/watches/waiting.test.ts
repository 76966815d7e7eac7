import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { answerTo, ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, connectAccount, PEOPLE, TEAM } from '../../support/test-world.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const SECOND = 1_000;
const ACTIVITY = '/acme/activity';

const countPolls = ({ service }: DigestWorld) =>
  service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;

/** A world with a watch, whose feed was answered once with the header. */
async function openWaiting(retryAfter: string): Promise<DigestWorld> {
  const world = await openDigestWorld();
  onTestFinished(() => world.stop());
  await world.say('watch all');
  world.service.faults.add({ path: ACTIVITY, status: 429, retryAfter, times: 1 });
  const before = countPolls(world);
  await world.passUntil(() => countPolls(world) > before);
  await world.pass(2 * SECOND);
  return world;
}

/** Milliseconds until the feed is read again. */
async function waitForPoll(world: DigestWorld, before = countPolls(world)): Promise<number> {
  const from = world.time.now();
  while (countPolls(world) <= before && world.time.now() - from < 2 * HOUR) {
    await world.time.advance(MINUTE / 4);
    await world.pass(SECOND, () => countPolls(world) > before);
  }
  return world.time.now() - from;
}

describe('a busy service that asks to wait', () => {
  test.each([
    ['a date in seconds', '1795920317', HOUR],
    ['an HTTP date years ahead', 'Tue, 01 Jan 2080 00:00:00 GMT', HOUR],
    ['half an hour', '1800', HOUR / 2],
    ['a negative time', '-5', 2 * MINUTE],
  ])('%s is obeyed for an hour at most', async (_, retryAfter, expected) => {
    const world = await openWaiting(retryAfter);
    const waited = await waitForPoll(world);
    expect(waited).toBeGreaterThan(expected - MINUTE);
    expect(waited).toBeLessThan(expected + MINUTE);
  });

  test('is named in the list of watches and by the doctor, with the time, until it answers', async () => {
    const world = await openWaiting('1795920317');
    for (const line of ['/deckhand watch list', '/deckhand doctor']) {
      const answer = await ask(world, line, 'admin');
      const [, until = ''] = /the service is busy, .*Deckhand waits until <!date\^(\d+)/i.exec(answer) ?? [];
      expect(Number(until) * SECOND - world.time.now(), answer).toBeGreaterThan(HOUR - MINUTE);
      expect(answer).not.toMatch(/Active|Everything works/);
    }
    await waitForPoll(world);
    await world.pass(2 * SECOND);
    expect(await ask(world, '/deckhand watch list', 'admin')).not.toContain('waits');
    expect(await ask(world, '/deckhand doctor', 'admin')).not.toContain('waits');
  });

  test.each<[string, (world: DigestWorld) => Promise<unknown>]>([
    ['a restart', (world) => world.restart(async () => undefined)],
    [
      'somebody resumes the watch',
      async (world) => {
        const [{ id = '' } = {}] = await world.app.workspaces.open(TEAM).schedules.list('watch');
        const [card] = world.slack.messages(TEAM, CHANNEL);
        const place = { channel: CHANNEL, ts: card?.ts ?? '' };
        for (const verb of ['pause', 'resume']) {
          const selected = `watch:${verb} ${JSON.stringify({ id })}`;
          const lines = () => world.slack.thread(TEAM, CHANNEL, place.ts).map(({ text }) => text);
          await world.as('admin').click(place, { actionId: 'schedule:more', selected });
          await world.passUntil(() => lines().some((text) => text.includes(`${verb}d the watch`)));
        }
      },
    ],
    ['somebody connects the account again', ({ slack }) => connectAccount(slack)],
    [
      'somebody disconnects the account and connects it again',
      async (world) => {
        const { store } = world.app.workspaces.open(TEAM);
        const ann = world.as('admin');
        await answerTo(world, 'admin', () => ann.command(CHANNEL, `/deckhand disconnect ${ACCOUNT}`));
        const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
        await ann.click({ channel: CHANNEL, ts }, { actionId: 'disconnect:confirm' });
        const { accounts, schedules } = world.app.workspaces.open(TEAM);
        const isPaused = async () =>
          (await schedules.list('watch')).every(({ state }) => state.kind === 'paused');
        await world.passUntil(isPaused);
        expect(await accounts.keys()).toEqual([]);
        expect(await store.collection('rounds', z.unknown()).list()).toEqual([]);
        await connectAccount(world.slack);
        await world.passUntil(async () => !(await isPaused()));
      },
    ],
  ])('is asked again after %s', async (_, act) => {
    const world = await openWaiting('3600');
    await act(world);
    await world.pass(2 * SECOND);
    expect(await waitForPoll(world)).toBeLessThan(2 * MINUTE);
    expect(await ask(world, '/deckhand watch list', 'admin')).not.toContain('waits');
  });
});
