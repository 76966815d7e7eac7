import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../support/manual-clock.ts';
import { ACCOUNT, openTestWorld, PEOPLE, TEAM } from '../../support/test-world.ts';

const RUNS = 40;
const at = Array.from({ length: RUNS }, (_, index) => index);
const channelOf = (index: number) => `C0RUN${index}`;

it('of forty tests at once in one workspace every root shows its end within a minute of it', async () => {
  const time = createManualClock();
  const servers = [{ name: 'web-1' }, { name: 'web-2' }];
  const projects = at.map((index) => ({ name: `Shop ${index}`, permalink: `shop-${index}`, servers }));
  const env = { POLL_INTERVAL_MS: '2500' };
  const world = await openTestWorld({ time, connected: true, realRates: true, projects, env });
  onTestFinished(() => world.stop());
  const { slack, service } = world;
  for (const index of at) {
    const id = channelOf(index);
    slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
    slack.invite(TEAM, id, 'bot');
    service.world.setRunOutcome({ account: ACCOUNT, project: `shop-${index}`, durationMs: 60_000 });
  }
  const begun = time.now();
  const shownAt = new Map<number, number>();
  await Promise.all(
    at.map((index) => world.as('member').command(channelOf(index), `/deckhand test shop-${index}`)),
  );
  while (shownAt.size < RUNS) {
    expect(time.now() - begun, 'time that passed').toBeLessThan(10 * 60_000);
    await time.advance(500);
    for (const index of at)
      if (slack.messages(TEAM, channelOf(index))[0]?.text.includes('reachable') && !shownAt.has(index))
        shownAt.set(index, time.now());
  }
  const started = await world.app.workspaces.open(TEAM).runs.newest(100);
  const lateMs = started.map((run) => {
    const index = Number(run.target.project.permalink.split('-')[1]);
    return (shownAt.get(index) ?? Number.POSITIVE_INFINITY) - (run.completedAt ?? 0);
  });
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(60_000);
  const edits = slack.calls.filter(({ method }) => method === 'chat.update');
  expect(edits.length).toBeGreaterThan(RUNS);
  // Slack has no room to edit all first replies, so none may say that its run goes on, and no job waits for it.
  await time.advance(5_000);
  const ended = await world.app.workspaces.open(TEAM).runs.newest(100);
  expect(ended.filter(({ shownAt }) => shownAt === undefined)).toEqual([]);
  const firsts = at.flatMap((index) => {
    const [{ ts = '' } = {}] = slack.messages(TEAM, channelOf(index));
    return slack.thread(TEAM, channelOf(index), ts).map(({ text }) => text);
  });
  expect(firsts).toHaveLength(RUNS);
  expect(firsts.filter((text) => /running|so far/i.test(text))).toEqual([]);
});
