import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { computePeriods } from '../../src/core/time/range.ts';
import { KEPT_MS, readRecoveries } from '../../src/records/recoveries.ts';
import type { Watch } from '../../src/records/schedules.ts';
import { noteOutcomes } from '../../src/scheduler/episodes/change-episodes.ts';
import { recoveryWords } from '../../src/views/activity/activity-message.ts';
import { OTHER, say, test, untilShown } from '../scheduler/channel.ts';
import { ask } from '../support/asking.ts';
import { leaveFailure } from '../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const STOREFRONT = { identifier: 'p1', permalink: 'storefront', name: 'Storefront' };

describe('a range, and what it is compared with', () => {
  /** Clocks went forward in Lisbon on 29 March 2026 at 01:00, and back on 25 October at 02:00. */
  it.each([
    ['today', '2026-03-30T10:00', '2026-03-29T23:00', '2026-03-29T00:00', '2026-03-29T10:00'],
    ['last_7_days', '2026-03-30T10:00', '2026-03-24T00:00', '2026-03-17T00:00', '2026-03-24T00:00'],
    ['last_30_days', '2026-03-30T10:00', '2026-03-01T00:00', '2026-01-30T00:00', '2026-03-01T00:00'],
    ['this_week', '2026-04-01T10:00', '2026-03-29T23:00', '2026-03-23T00:00', '2026-03-25T11:00'],
    ['this_week', '2026-10-27T10:00', '2026-10-26T00:00', '2026-10-18T23:00', '2026-10-20T09:00'],
  ] as const)('%s at %s UTC begins at %s, after %s to %s', (range, now, from, start, end) => {
    const at = (text: string) => Date.parse(`${text}Z`);
    const periods = computePeriods(range, 'Europe/Lisbon', at(now));
    const shown = [periods.from, periods.before.from, periods.before.to].map((time) =>
      new Date(time).toISOString().slice(0, 16),
    );
    expect(shown).toEqual([from, start, end]);
  });
});

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);

async function follow(world: TestWorld, change: Partial<Watch> = {}): Promise<void> {
  const watch: Watch = {
    kind: 'watch',
    id: 'w1',
    requestId: 'r1',
    channel: CHANNEL,
    createdBy: PEOPLE.admin,
    createdAt: Date.now() - 100 * DAY,
    state: { kind: 'active' },
    account: ACCOUNT,
    project: STOREFRONT,
    mode: 'failures',
    ...change,
  };
  await workspaceOf(world).schedules.put(watch);
}

/** A failure so many days ago that took so long to recover; it goes on if that is left out. */
async function failed(
  world: TestWorld,
  daysAgo: number,
  minutes?: number,
  change: object = {},
): Promise<void> {
  const { identifier: project, ...named } = STOREFRONT;
  const where = { kind: 'deployments', channel: CHANNEL, account: ACCOUNT, project } as const;
  const subject = { ...where, ...named, ...change };
  const at = Date.now() - daysAgo * DAY;
  const note = (kind: 'failure' | 'success', time: number) =>
    noteOutcomes(workspaceOf(world), subject, [{ kind, id: `${kind} ${time}`, at: time, lines: [] }]);
  await note('failure', at);
  if (minutes !== undefined) await note('success', at + minutes * MINUTE);
}

const week = () => computePeriods('last_7_days', 'UTC', Date.now());

async function figures(world: TestWorld, asked: Partial<Parameters<typeof readRecoveries>[1]> = {}) {
  const of = { account: ACCOUNT, project: STOREFRONT };
  const all = await readRecoveries(workspaceOf(world), { periods: week(), of, ...asked });
  return all.map((one) => recoveryWords(one));
}

describe('recovery figures', () => {
  test('are the failures of the range, the median and the longest time, against the period before', async ({
    world,
  }) => {
    await follow(world);
    expect(await figures(world)).toEqual(['no outages']);
    const minutesByDay = { 40: 500, 9: 10, 8: 60, 3: 125, 2: 5, 1: 38 };
    for (const [daysAgo, minutes] of Object.entries(minutesByDay).toReversed())
      await failed(world, Number(daysAgo), minutes);
    const ended = '3 outages ▲ 1, median time to recover 38 min ▲ 3 min, longest 2 h 5 min ▲ 1 h 5 min';
    expect(await figures(world)).toEqual([ended]);
    await failed(world, 0);
    expect(await figures(world)).toEqual([ended.replace('3 outages ▲ 1', '4 outages ▲ 2 (1 still open)')]);
  });

  test('count a closed failure, and take no time from it', async ({ world }) => {
    await follow(world);
    await failed(world, 1);
    await leaveFailure(world, 'close', { ts: world.slack.messages(TEAM, CHANNEL).at(-1)?.ts ?? '' });
    await untilShown(world, 'closed by');
    expect(await figures(world)).toEqual(['1 outage ▲ 1']);
  });

  test('say since when a project is followed where that is too late for a comparison', async ({ world }) => {
    await follow(world, { createdAt: Date.now() - 2 * DAY });
    // Under a watch that was removed since.
    await failed(world, 4, 10);
    await failed(world, 1, 38);
    const [words] = await figures(world);
    expect(words).toMatch(/^1 outage, median time to recover 38 min, longest 38 min \(followed since <!date/);
  });

  test('are of one channel that follows the project, the asker’s before others, and of no personal watch', async ({
    world,
  }) => {
    expect(await figures(world)).toEqual([]);
    await failed(world, 1, 10);
    await failed(world, 3, 20, { channel: OTHER });
    await failed(world, 2, 20, { channel: OTHER });
    const direct = await workspaceOf(world).slack.openDirect(PEOPLE.member);
    await failed(world, 1, 20, { channel: direct, person: PEOPLE.member });
    await follow(world, { channel: direct, person: PEOPLE.member, project: undefined });
    expect(await figures(world, { channel: direct })).toEqual([]);
    await follow(world, { id: 'w2' });
    await follow(world, { id: 'w3', channel: OTHER, project: undefined, createdAt: Date.now() - 200 * DAY });
    expect((await figures(world))[0]).toMatch(/^2 outages/);
    expect((await figures(world, { channel: CHANNEL }))[0]).toMatch(/^1 outage /);
    expect(await figures(world, { of: undefined } as object)).toHaveLength(1);
  });

  test('go on under the new name of a renamed project, and not for another under its old permalink', async ({
    world,
  }) => {
    const renamed = { ...STOREFRONT, permalink: 'shop', name: 'Shop' };
    await failed(world, 2, 10);
    await failed(world, 1, 10, { permalink: 'shop', name: 'Shop' });
    await follow(world, { project: undefined });
    const of = (project: typeof STOREFRONT) => figures(world, { of: { account: ACCOUNT, project } });
    expect((await of(renamed))[0]).toMatch(/^2 outages/);
    expect(await of({ ...STOREFRONT, identifier: 'p9' })).toEqual(['no outages']);
    const all = await readRecoveries(workspaceOf(world), { periods: week() });
    expect(all.map(({ name }) => name)).toEqual(['Shop']);
  });

  test('stand in `activity stats` of a project, in its digest and on App Home', async ({ world }) => {
    const [{ identifier } = { identifier: '' }] =
      world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    await follow(world, { project: { ...STOREFRONT, identifier } });
    await failed(world, 1, 38, { project: identifier });
    const words = '1 outage ▲ 1, median time to recover 38 min, longest 38 min';
    expect(await ask(world, '/deckhand activity 7d stats storefront')).toContain(`*Recovery*  ${words}`);
    expect(await ask(world, '/deckhand activity 7d storefront')).not.toContain('Recovery');
    await say(world, 'digest add daily 09:00 UTC last_7_days --project storefront');
    expect(await ask(world, '/deckhand digest preview', 'admin')).toContain(`*Recovery*  ${words}`);
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.slack.until(() => home().includes(`*Storefront*: ${words}`));
  });

  test('forget what ended more than 400 days ago, as the privacy page says', async ({ world }) => {
    const { store } = world.app.parts;
    await failed(world, 401, 10);
    const kept = () => store.of(TEAM).collection('recoveries', z.unknown()).list();
    expect(await kept()).toEqual([]);
    await failed(world, 399, 10);
    expect(await kept()).toHaveLength(1);
    const privacy = await (await fetch(`${world.origin}/privacy`)).text();
    expect(privacy).toContain(`without people and revisions: ${KEPT_MS / DAY} days`);
  });
});
