import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, cursorAfter, type FeedCursor } from '../../../src/records/feed-cursor.ts';
import { type ActivityEvent, MAX_EVENTS } from '../../../src/service/activity.ts';
import { byLength } from '../../support/length.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;

function event(ref: string, seconds: number, more: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    event: 'deploy_completed',
    properties: { end_ref: ref, servers: ['web-1'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'p1' },
    user: 'Kim',
    created_at: new Date(NOW + seconds * 1000).toISOString(),
    ...more,
  };
}

const refs = (events: readonly ActivityEvent[]) => events.map(({ properties }) => properties.end_ref);
const many = (amount: number, from = 0, step = 1) =>
  Array.from({ length: amount }, (_, at) => event(`e${from + at}`, (from + at) * step)).reverse();

describe('what is new in a page', () => {
  const before = [event('b', 20), event('a', 10)];

  const found = (second: ActivityEvent[]) => refs(advance(cursorAfter(before, NOW), second, NOW).fresh);

  it('is nothing in another zone’s writing, or under another name', () => {
    const change = { user: 'Kim K.', project: { name: 'Shop', permalink: 'shop', identifier: 'p1' } };
    const second = before.map((one) => ({ ...one, ...change, created_at: inTokyo(one.created_at) }));
    expect(found(second)).toEqual([]);
  });

  it('is another project’s, server’s or kind of event of the same second', () => {
    const second = [
      event('b', 20, { project: { name: 'B', permalink: 'b', identifier: 'p2' } }),
      event('b', 20, { properties: { end_ref: 'b', servers: ['web-2'] } }),
      event('b', 20, { event: 'deploy_failed' }),
      ...before,
    ];
    expect(found(second)).toEqual(['b', 'b', 'b']);
  });

  it('is not what slides into a full page when others are deleted', () => {
    const old = many(130);
    const page = old.slice(0, MAX_EVENTS);
    const slid = [...old.slice(0, 50), ...old.slice(80, 130)];
    expect(advance(cursorAfter(page, NOW), slid, NOW).fresh).toEqual([]);
  });

  it('is not what shares a second with the oldest of a full page, and slides into it', () => {
    const old = Array.from({ length: 130 }, (_, at) => event(`e${at}`, Math.floor(at / 7))).reverse();
    const slid = [...old.slice(0, 50), ...old.slice(80, 130)];
    expect(advance(cursorAfter(old.slice(0, MAX_EVENTS), NOW), slid, NOW).fresh).toEqual([]);
  });

  it('says that some may be missing after a pause longer than the range', () => {
    const cursor = cursorAfter(before, NOW);
    expect(advance(cursor, [event('z', 9 * DAY)], NOW + 9 * DAY).isTruncated).toBe(true);
    expect(advance(cursor, before, NOW + 9 * DAY).isTruncated).toBe(false);
  });

  it('keeps a bounded memory', () => {
    let cursor = cursorAfter([], NOW);
    for (let round = 0; round < 50; round += 1) cursor = advance(cursor, many(60, round * 60), NOW).cursor;
    expect(JSON.stringify(cursor).length).toBeLessThan(20_000);
    expect(advance(cursor, many(60, 49 * 60), NOW).fresh).toEqual([]);
    expect(advance(cursor, many(60, 0), NOW).fresh).toEqual([]);
  });
});

/** Steps between looks: how many events come, how far apart, how the page is shuffled, whether we are killed. */
const step = fc.record({
  gaps: fc.array(fc.nat({ max: 3 }), { maxLength: 60 }),
  page: fc.constantFrom('as it is', 'shuffled', 'stale'),
  isKilled: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A feed that goes on, and somebody who reads it. */
class Reading {
  readonly feed: ActivityEvent[];
  readonly told: Array<string | null> = [];
  #second: number;
  #cursor: FeedCursor;
  /** How much of the feed was on a page that was read. */
  #read: number;

  constructor(first: number) {
    this.feed = many(first).toReversed();
    this.#second = first;
    this.#read = first;
    this.#cursor = cursorAfter(pageOf(this.feed), NOW);
  }

  /** More at once than a page holds is another test's matter. */
  fits({ gaps }: Step): boolean {
    return this.feed.length + gaps.length - this.#read < MAX_EVENTS;
  }

  take({ gaps, page, isKilled }: Step): void {
    const stale = pageOf(this.feed);
    for (const gap of gaps) this.#happen(gap);
    const whole = pageOf(this.feed);
    const found = advance(this.#cursor, { 'as it is': whole, shuffled: reordered(whole), stale }[page], NOW);
    expect(found.isTruncated).toBe(false);
    // A process that dies before it stored its place looks again from the old one.
    if (isKilled) return;
    if (page !== 'stale') this.#read = this.feed.length;
    this.told.push(...refs(found.fresh));
    this.#cursor = JSON.parse(JSON.stringify(found.cursor));
  }

  #happen(gap: number): void {
    this.#second += gap;
    this.feed.push(event(gap === 2 ? 'same' : `e${this.feed.length}`, this.#second));
  }
}

describe('a feed that is looked at again and again', () => {
  it('gives every event exactly once, over restarts, lost looks, equal seconds and shuffled pages', () => {
    fc.assert(
      fc.property(fc.nat({ max: 140 }), fc.array(step, { maxLength: 25 }), (first, steps) => {
        const reading = new Reading(first);
        for (const one of steps) if (reading.fits(one)) reading.take(one);
        reading.take({ gaps: [], page: 'as it is', isKilled: false });
        expect(reading.told.toSorted()).toEqual(refs(reading.feed.slice(first)).toSorted());
      }),
      { numRuns: byLength(80, 1_000) },
    );
  });

  it('never misses silently: with any number of events between two looks all are told, or that some are missing', () => {
    fc.assert(
      fc.property(fc.nat({ max: 150 }), fc.nat({ max: 250 }), fc.nat({ max: 2 }), (first, amount, apart) => {
        const old = many(first, 0, apart);
        const all = [...many(amount, first, apart), ...old];
        const found = advance(cursorAfter(old.slice(0, MAX_EVENTS), NOW), all.slice(0, MAX_EVENTS), NOW);
        const isWhole = found.fresh.length === amount;
        expect(isWhole || found.isTruncated).toBe(true);
        if (amount < MAX_EVENTS) expect(isWhole).toBe(true);
      }),
      { numRuns: byLength(120, 2_000) },
    );
  });
});

/** Most recent first. */
function pageOf(feed: readonly ActivityEvent[]): ActivityEvent[] {
  return feed.slice(-MAX_EVENTS).reverse();
}

/** Events of one second in another order, as a database without a tie-break gives them; the cut stays where it was. */
function reordered(page: readonly ActivityEvent[]): ActivityEvent[] {
  return page.toReversed().toSorted((one, other) => (one.created_at < other.created_at ? 1 : -1));
}

function inTokyo(instant: string): string {
  return `${new Date(Date.parse(instant) + 9 * 3_600_000).toISOString().slice(0, 19)}+09:00`;
}
