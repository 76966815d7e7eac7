import { setTimeout as wait } from 'node:timers/promises';
import { storedRows } from '../support/stored-text.ts';
import { CHANNEL, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import type { DoorName, Point } from './doors.ts';
import { openSite, type Site, type StoreKind } from './site.ts';

/** What became of one act, killed at each of its points. */
interface Row {
  /** Calls that the act makes where nothing dies. */
  calls: Record<DoorName, number>;
  points: number;
  /** Points that were met: the count of calls differs a little from one time to the next. */
  kills: number;
  /** What Slack had taken and nobody could see at the end. */
  lost: string[];
  /** Number of posts, answers and requests to the service that stand more than once. */
  doubled: number;
  /** Of these what Deckhand did not count under its name. */
  uncounted: string[];
}

export interface Sample {
  /** Points of each door, spread evenly. */
  most: number;
  /** Every how many-th point, and which of them first, from 0. */
  every: number;
  first: number;
}

/** One time that the act was asked. */
interface Request {
  n: number;
  point: Point;
  /** Slack showed that it was taken. */
  isTaken: boolean;
  isKilled: boolean;
  /** By which Slack names the requests of this time. */
  requests: Set<string>;
}

/** So long the act may go on after it can be seen. */
const AFTERWARDS_MS = 400;
const MAX_WAIT_MS = 60_000;
const STEP_MS = 1_000;
/** Six minutes after the first time Slack sends an event for the last; on a busy machine a minute has fewer steps. */
const RETRIES_MS = 400_000;

/** Kills the process before and after the calls that an act makes, one at a time, and looks at the end what became of it. */
export async function runAct(act: Act, store: StoreKind, sample: Sample): Promise<Row> {
  const site = await openSite(store, act);
  try {
    await act.setUp?.(site);
    const calls = await countCalls(act, site);
    const points = pointsOf(calls, store, sample);
    const asked: Request[] = [];
    for (const [at, point] of points.entries()) asked.push(await dieAt(act, site, at + 1, point));
    const taken = asked.filter(({ isTaken }) => isTaken);
    const isSeen = async ({ n }: Request): Promise<boolean> => (await act.seen(site, n)) > 0;
    await settle(site, async () => (await Promise.all(taken.map(isSeen))).every((seen) => seen));
    await wait(AFTERWARDS_MS);
    const lost: string[] = [];
    for (const one of taken) if (!(await isSeen(one))) lost.push(nameOf(one.point));
    for (const { n, point } of asked) if (await act.isHalf?.(site, n)) lost.push(`a half, ${nameOf(point)}`);
    const channels = asked.flatMap(({ n }) => act.channels?.(n) ?? []);
    const doubles = [...repeatedPosts(site, channels), ...(await repeatedWork(act, site, asked))];
    return {
      calls,
      points: points.length,
      kills: asked.filter(({ isKilled }) => isKilled).length,
      lost,
      doubled: doubles.length,
      uncounted: doubles.filter(({ isCounted }) => !isCounted).map(({ what }) => what),
    };
  } finally {
    await site.close();
  }
}

async function countCalls(act: Act, site: Site): Promise<Record<DoorName, number>> {
  await act.prepare?.(site, 0);
  site.begin(undefined);
  await act.ask(site, 0);
  await settle(site, async () => (await act.seen(site, 0)) > 0);
  await wait(AFTERWARDS_MS);
  return site.counts();
}

async function dieAt(act: Act, site: Site, n: number, point: Point): Promise<Request> {
  const before = site.slack.deliveries.length;
  await act.prepare?.(site, n);
  site.begin(point);
  const death = site.death().then(() => true);
  const isTaken = await act.ask(site, n);
  const isSeen = async (): Promise<boolean> => (await act.seen(site, n)) > 0;
  let isOver = false;
  const seen = settle(site, async () => isOver || (await isSeen())).then(async () => {
    await wait(AFTERWARDS_MS);
    return false;
  });
  const isKilled = await Promise.race([death, ...(isTaken ? [seen] : [])]);
  isOver = true;
  site.begin(undefined);
  await site.revive();
  if (act.isAlone === true && site.kind === 'postgres') await site.endLeases();
  if (isTaken && (site.kind === 'sqlite' || act.isAlone === true)) await settle(site, isSeen);
  // Also where Slack showed that it failed: what was stored before the kill is carried out, and answered, all the same.
  if (act.isAlone === true) await settle(site, async () => !(await hasFormsLeft(site.storeUrl)));
  const ids = site.slack.deliveries
    .slice(before)
    .flatMap(({ payload }) => [payload.trigger_id, payload.event_id]);
  const requests = new Set(ids.filter((id) => typeof id === 'string'));
  return { n, point, isTaken, isKilled, requests };
}

/** Whether a form is stored that was not carried out to its end. Each database writes a row in its own way. */
async function hasFormsLeft(url: string): Promise<boolean> {
  const isLeft = /"state":[01]\b|,(?:created|retry|active),/;
  const rows = (await storedRows(url)).split('\n');
  return rows.some((row) => row.includes('requests') && /kind\W+form\b/.test(row) && isLeft.test(row));
}

/** What is not there in the end is lost, which is judged then, and not before Slack has sent everything for the last time. */
async function settle({ slack, service }: Site, isThere: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + MAX_WAIT_MS;
  for (let passedMs = 0; passedMs < RETRIES_MS || Date.now() < until; passedMs += STEP_MS) {
    if (await isThere()) return;
    // Servers are made, and Slack's retries come, by clocks of their own.
    service.clock.advance(STEP_MS);
    slack.advance(STEP_MS);
    await wait(50);
  }
}

function pointsOf(
  calls: Record<DoorName, number>,
  store: StoreKind,
  { most, every, first }: Sample,
): Point[] {
  const all = (['slack', 'service', 'store'] as const).flatMap((door) => {
    const step = Math.max(1, Math.ceil(calls[door] / most));
    const chosen = Array.from({ length: calls[door] }, (_, at) => at + 1).filter(
      (at) => (at - 1) % step === 0,
    );
    // A statement of SQLite has ended before anything else happens: after it is before the next call.
    const isBoth = door !== 'store' || store !== 'sqlite';
    const whens = isBoth ? (['before', 'after'] as const) : (['before'] as const);
    return chosen.flatMap((at) => whens.map((when) => ({ door, at, when })));
  });
  return all.filter((_, at) => at % every === first);
}

interface Doubled {
  what: string;
  isCounted: boolean;
}

/** Posts that stand again under the same name; each must have been counted under it. */
function repeatedPosts({ slack, uncertain }: Site, channels: readonly string[]): Doubled[] {
  const roots = [CHANNEL, 'C0BILLING', ...channels].flatMap((channel) => slack.messages(TEAM, channel));
  const replies = roots.flatMap(({ channel, ts }) => slack.thread(TEAM, channel, ts));
  // A reply that its channel shows too is one post.
  const all = [...roots.filter(({ subtype }) => subtype !== 'thread_broadcast'), ...replies];
  const names = all.flatMap(({ client_msg_id: id }) => id ?? []);
  const counted = new Set(uncertain().map(({ delivery }) => delivery));
  const repeated = names.filter((name, at) => names.indexOf(name) !== at);
  return repeated.map((name) => ({ what: `post ${name}`, isCounted: counted.has(name) }));
}

/** What was ordered, or answered, again for one time that it was asked. */
async function repeatedWork(act: Act, site: Site, asked: readonly Request[]): Promise<Doubled[]> {
  const doubles: Doubled[] = [];
  const uncertain = site.uncertain();
  const counted = uncertain.map(({ delivery }) => delivery);
  for (const { n, point, requests } of asked) {
    const orders = act.done?.(site, n) ?? 1;
    const lines = uncertain.filter(({ line }) => line.includes(act.word?.(n) ?? '\n'));
    for (let order = 1; order < orders; order += 1)
      doubles.push({ what: `ordered again, ${nameOf(point)}`, isCounted: lines.length >= order });
    const answers = act.isAnswer === true ? await act.seen(site, n) : 1;
    for (let answer = 1; answer < answers; answer += 1) {
      const own = counted.findIndex((id) => requests.has(id));
      if (own !== -1) counted.splice(own, 1);
      doubles.push({ what: `answered again, ${nameOf(point)}`, isCounted: own !== -1 });
    }
  }
  return doubles;
}

function nameOf({ door, at, when }: Point): string {
  return `${when} call ${at} to ${door}`;
}
