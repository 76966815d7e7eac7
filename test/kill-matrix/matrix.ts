import { setTimeout as wait } from 'node:timers/promises';
import { CHANNEL, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import type { DoorName, Point } from './doors.ts';
import { openSite, type Site, type StoreKind } from './site.ts';

/** What became of one act, killed at each of its points. */
export interface Row {
  act: string;
  store: StoreKind;
  /** Calls that the act makes where nothing dies. */
  calls: Record<DoorName, number>;
  points: number;
  /** Points that were met: the count of calls differs a little from one time to the next. */
  kills: number;
  /** What Slack had taken and nobody could see at the end. */
  lost: string[];
  /** Posts that stand more than once, and requests that were made more than once. */
  doubled: number;
  /** What Deckhand itself counted as uncertain. */
  counted: number;
}

/** So long the act may go on after it can be seen. */
const AFTERWARDS_MS = 400;
const LONGEST_WAIT_MS = 60_000;

/**
 * Kills the process before and after the calls that an act makes, one at a time, and looks at the end what became of it.
 * @param most points of each door, spread evenly
 */
export async function runAct(act: Act, store: StoreKind, most: number): Promise<Row> {
  const site = await openSite(store, act.env);
  try {
    await act.setUp?.(site);
    const calls = await countCalls(act, site);
    const points = pointsOf(calls, most);
    const asked: Array<{ n: number; point: Point }> = [];
    let kills = 0;
    for (const [at, point] of points.entries()) {
      const n = at + 1;
      const { isTaken, isKilled } = await dieAt(act, site, n, point);
      if (isKilled) kills += 1;
      if (isTaken) asked.push({ n, point });
    }
    await settle(site, () => asked.every(({ n }) => act.seen(site, n) > 0));
    await wait(AFTERWARDS_MS);
    const lost = asked.filter(({ n }) => act.seen(site, n) === 0).map(({ point }) => nameOf(point));
    const done = asked.map(({ n }) => act.done?.(site, n) ?? 1);
    const again = done.reduce((sum, often) => sum + Math.max(0, often - 1), 0);
    const doubled = repeatedPosts(site) + again;
    return {
      act: act.name,
      store,
      calls,
      points: points.length,
      kills,
      lost,
      doubled,
      counted: site.counted(),
    };
  } finally {
    await site.close();
  }
}

async function countCalls(act: Act, site: Site): Promise<Record<DoorName, number>> {
  await act.prepare?.(site, 0);
  site.begin(undefined);
  await act.ask(site, 0);
  await settle(site, () => act.seen(site, 0) > 0);
  await wait(AFTERWARDS_MS);
  return site.counts();
}

async function dieAt(
  act: Act,
  site: Site,
  n: number,
  point: Point,
): Promise<{ isTaken: boolean; isKilled: boolean }> {
  await act.prepare?.(site, n);
  site.begin(point);
  const death = site.death().then(() => true);
  const isTaken = await act.ask(site, n);
  const seen = settle(site, () => act.seen(site, n) > 0).then(async () => {
    await wait(AFTERWARDS_MS);
    return false;
  });
  const isKilled = await Promise.race([death, ...(isTaken ? [seen] : [])]);
  site.begin(undefined);
  await site.revive();
  if (isTaken && site.kind === 'sqlite') await settle(site, () => act.seen(site, n) > 0);
  return { isTaken, isKilled };
}

/** What is not there in the end is lost, which is judged then. */
async function settle({ slack, service }: Site, isThere: () => boolean): Promise<void> {
  const until = Date.now() + LONGEST_WAIT_MS;
  while (!isThere() && Date.now() < until) {
    // Servers are made, and Slack's retries come, by clocks of their own.
    service.clock.advance(1_000);
    slack.advance(1_000);
    await wait(50);
  }
}

function pointsOf(calls: Record<DoorName, number>, most: number): Point[] {
  return (['slack', 'service', 'store'] as const).flatMap((door) => {
    const every = Math.max(1, Math.ceil(calls[door] / most));
    const chosen = Array.from({ length: calls[door] }, (_, at) => at + 1).filter(
      (at) => (at - 1) % every === 0,
    );
    return chosen.flatMap((at) => [
      { door, at, when: 'before' as const },
      { door, at, when: 'after' as const },
    ]);
  });
}

function repeatedPosts({ slack }: Site): number {
  const roots = [CHANNEL, 'C0BILLING'].flatMap((channel) => slack.messages(TEAM, channel));
  const all = [...roots, ...roots.flatMap(({ channel, ts }) => slack.thread(TEAM, channel, ts))];
  const names = all.flatMap(({ client_msg_id: id }) => id ?? []);
  return names.length - new Set(names).size;
}

function nameOf({ door, at, when }: Point): string {
  return `${when} call ${at} to ${door}`;
}

/** The rows as a table of Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const head = [
    'act',
    'store',
    'calls to Slack, service, store',
    'points',
    'kills',
    'lost',
    'doubled',
    'counted',
  ];
  const lines = rows.map(({ act, store, calls, points, kills, lost, doubled, counted }) =>
    [
      act,
      store,
      `${calls.slack}, ${calls.service}, ${calls.store}`,
      points,
      kills,
      lost.length,
      doubled,
      counted,
    ].join(' | '),
  );
  return [head.join(' | '), head.map(() => '---').join(' | '), ...lines]
    .map((line) => `| ${line} |`)
    .join('\n');
}
