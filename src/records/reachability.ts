import { z } from 'zod';

/** A part of a project that the latest tests did not reach. Foreign text; times are milliseconds since the epoch. */
export const UnreachableItem = z.object({
  key: z.string(),
  title: z.string(),
  reason: z.string().optional(),
  /** Times of the first and the latest of these tests. */
  since: z.number(),
  latestAt: z.number(),
  /** Number of these tests. */
  tests: z.number(),
});
export interface UnreachableItem extends z.infer<typeof UnreachableItem> {}

/** A change of a part of a project, as the ledger keeps it. `since` and `tests` are set when it is reachable again. */
export const ItemChange = UnreachableItem.pick({ key: true, title: true, reason: true }).extend({
  since: z.number().optional(),
  tests: z.number().optional(),
  /** The person who was on the failure. */
  owner: z.string().optional(),
});
export interface ItemChange extends z.infer<typeof ItemChange> {}

export const UNREACHABLE = 'item_unreachable';
export const REACHABLE = 'item_reachable';

/** The results of a test. */
export interface ProjectResults {
  items: ReadonlyArray<{ key: string; title: string; isReachable: boolean; reason: string | null }>;
  /** True if it tested all of the project. */
  isWhole: boolean;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Tests in a row that make an outage. Deckhand tests a part again before it tells anybody. */
const OUTAGE_TESTS = 2;
const MAX_ITEMS = 100;
const MAX_TEXT = 200;

export function isOutage({ tests = 0 }: Pick<ItemChange, 'tests'>): boolean {
  return tests >= OUTAGE_TESTS;
}

/** The unreachable parts after a test, and which parts it changed. Safe to repeat. Pure. */
export function addResults(
  before: readonly UnreachableItem[],
  { items, isWhole, at }: ProjectResults,
): { after: UnreachableItem[]; changes: Array<{ event: string; item: UnreachableItem }> } {
  const changes: Array<{ event: string; item: UnreachableItem }> = [];
  const failed = items.filter(({ isReachable }) => !isReachable).slice(0, MAX_ITEMS);
  const passed = new Set(items.filter(({ isReachable }) => isReachable).map(({ key }) => key));
  const failedKeys = new Set(failed.map(({ key }) => key.slice(0, MAX_TEXT)));
  const others = before.filter((item) => {
    if (item.latestAt >= at) return true;
    if (passed.has(item.key)) changes.push({ event: REACHABLE, item });
    // The service no longer lists one that a whole test leaves out.
    return !passed.has(item.key) && !failedKeys.has(item.key) && !isWhole;
  });
  const otherKeys = new Set(others.map(({ key }) => key));
  const added = failed.flatMap(({ key: full, title, reason }): UnreachableItem[] => {
    const key = full.slice(0, MAX_TEXT);
    if (otherKeys.has(key)) return [];
    const earlier = before.find((item) => item.key === key);
    const item = {
      key,
      title: title.slice(0, MAX_TEXT),
      ...(reason === null ? {} : { reason: reason.slice(0, MAX_TEXT) }),
      since: earlier?.since ?? at,
      latestAt: at,
      tests: (earlier?.tests ?? 0) + 1,
    };
    if (earlier === undefined) changes.push({ event: UNREACHABLE, item });
    return [item];
  });
  return { after: [...others, ...added].slice(0, MAX_ITEMS), changes };
}

/** An ended outage of parts of a project. Times are milliseconds since the epoch. */
export interface Outage {
  name: string;
  permalink: string | undefined;
  titles: string[];
  since: number;
  endedAt: number;
  reason: string | undefined;
  owner: string | undefined;
}

/** The outages that ended, oldest first. Pure. */
export function listOutages(
  entries: ReadonlyArray<{
    event: string;
    at: number;
    project: string;
    name?: string | undefined;
    permalink?: string | undefined;
    test?: ItemChange | undefined;
  }>,
): Outage[] {
  const ended = entries.filter(
    ({ event, test }) => event === REACHABLE && test !== undefined && isOutage(test),
  );
  const groups = Map.groupBy(ended, ({ project, at }) => JSON.stringify([project, at]));
  return [...groups.values()].flatMap((own): Outage[] => {
    const [first] = own;
    if (first?.test === undefined) return [];
    const tests = own.flatMap(({ test }) => test ?? []);
    const since = Math.min(...tests.map((test) => test.since ?? first.at));
    return [
      {
        name: first.name ?? first.project,
        permalink: first.permalink,
        titles: tests.map(({ title }) => title),
        since,
        endedAt: first.at,
        reason: tests.find(({ reason }) => reason !== undefined)?.reason,
        owner: tests.find(({ owner }) => owner !== undefined)?.owner,
      },
    ];
  });
}
