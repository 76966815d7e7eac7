import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createProduct, type Product } from '../../sandbox/demo/product.ts';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { type LocalSlack, startLocalSlack } from '../../sandbox/slack/server.ts';
import { systemClock } from '../../src/clock.ts';
import { postId } from '../../src/follow/thread.ts';
import {
  ACCOUNT,
  addHouseAccount,
  connectHouse,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/house.ts';

const MINUTE = 60_000;
const CHANNELS = 10;
/** About what a start takes, so that the slots fall due right after it. */
const START_MS = 1_200;
/** Kills come at any moment of this, while the slots of a minute are dealt with. */
const KILL_WITHIN_MS = 3_000;
const KILLS_A_SLOT = 5;
const LONGEST_WAIT_MS = 50_000;

export interface ChaosResult {
  kills: number;
  /** Slots that fell due, over all digests. */
  due: number;
  /** What was to be posted and was not. */
  lost: string[];
  /** What stands more than once. */
  doubled: string[];
  /** What was posted again although Slack might have had it, as counted by Deckhand. */
  uncertain: string[];
}

interface Options {
  kills: number;
  digests: number;
  onSlot?: (killed: number) => void;
}

/** Kills Deckhand with `kill -9` at random moments while its digests fall due each minute, and counts what came of it. */
export async function runChaos({ kills, digests, onSlot }: Options): Promise<ChaosResult> {
  const service = await startSimulatedService();
  const slack = await startLocalSlack();
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-chaos-'));
  const { botToken } = furnish(slack);
  addHouseAccount(service, undefined);
  const endedAt = Date.now();
  service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endedAt, succeeded: false });
  const product = createShifted(slack, environment(slack, service, botToken, folder));
  const slots: number[] = [];
  let killed = 0;
  try {
    await product.restart();
    const ids = await setUp(slack, digests);
    while (killed < kills) {
      slots.push(product.shiftToNextMinute());
      await product.restart();
      for (let at = 0; at < KILLS_A_SLOT && killed < kills; at += 1) {
        await systemClock.sleep(Math.random() * KILL_WITHIN_MS);
        await product.restart();
        killed += 1;
      }
      await untilPosted(slack, postsOf(ids, slots.slice(-1)));
      onSlot?.(killed);
    }
    await product.stop();
    return judge(slack, postsOf(ids, slots), { kills: killed, uncertain: product.uncertain });
  } finally {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Shifted {
  /** Kills what runs, and starts it anew on the same store. */
  restart(): Promise<void>;
  /** Moves the clock of the next process to right before the next minute, and gives that. */
  shiftToNextMinute(): number;
  stop(): Promise<void>;
  /** The deliveries that Deckhand was in doubt of. */
  uncertain: string[];
}

/** Deckhand as a process of its own, whose clock runs ahead. */
function createShifted(slack: LocalSlack, env: Record<string, string>): Shifted {
  const preload = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href;
  const uncertain: string[] = [];
  let shift = 0;
  let product: Product | undefined;

  function onLine(line: string): void {
    if (line.includes('"event":"delivery_uncertain"'))
      uncertain.push((JSON.parse(line) as { delivery: string }).delivery);
  }

  return {
    uncertain,
    async restart() {
      await product?.kill();
      const shifted = { SHIFT_MS: String(shift), NODE_OPTIONS: `--import ${preload}`, LOG_LEVEL: 'info' };
      product = createProduct({ ...env, ...shifted }, onLine);
      slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    },
    shiftToNextMinute() {
      const now = Date.now() + shift;
      const slot = Math.ceil((now + START_MS) / MINUTE) * MINUTE;
      shift += slot - START_MS - now;
      return slot;
    },
    stop: async () => product?.stop(),
  };
}

/** Waits for the posts, but not for ever: what is missing then is lost, which is judged at the end. */
async function untilPosted(slack: LocalSlack, expected: ReadonlyMap<string, string>): Promise<void> {
  const isThere = (): boolean => {
    const counts = countPosts(slack);
    return [...expected.keys()].every((id) => counts.has(id));
  };
  await slack.until(isThere, { timeoutMs: LONGEST_WAIT_MS }).catch(() => undefined);
}

/** Connects the account and sets up the digests, each due every minute; gives their ids. */
async function setUp(slack: LocalSlack, digests: number): Promise<string[]> {
  const channels = Array.from({ length: CHANNELS }, (_, at) => `C0CHAOS${at}`);
  for (const id of channels) {
    slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
    slack.invite(TEAM, id, 'bot');
  }
  await connectHouse(slack);
  const ann = slack.as(TEAM, PEOPLE.admin);
  for (let at = 0; at < digests; at += 1)
    await ann.command(channels[at % CHANNELS] ?? '', '/deckhand digest add cron:"* * * * *" UTC today');
  const ids = (): string[] =>
    channels.flatMap((channel) =>
      slack.messages(TEAM, channel).flatMap(({ text }) => /set up the digest `(\w+)`/.exec(text)?.[1] ?? []),
    );
  await slack.until(() => ids().length === digests, { timeoutMs: 30_000, what: 'all digests to be set up' });
  return ids();
}

/** The names that Slack knows the messages by, with what they are. */
function postsOf(ids: readonly string[], slots: readonly number[]): Map<string, string> {
  const names = slots.flatMap((slot) => ids.map((id) => `digest ${id} ${slot}`));
  return new Map(names.map((name) => [postId(TEAM, name), name]));
}

/** How often each name stands in the channels and their threads. */
function countPosts(slack: LocalSlack): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at < CHANNELS; at += 1) {
    const roots = slack.messages(TEAM, `C0CHAOS${at}`);
    const replies = roots.flatMap(({ ts }) => slack.thread(TEAM, `C0CHAOS${at}`, ts));
    for (const { client_msg_id: id } of [...roots, ...replies])
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function judge(
  slack: LocalSlack,
  expected: ReadonlyMap<string, string>,
  counted: Pick<ChaosResult, 'kills' | 'uncertain'>,
): ChaosResult {
  const counts = countPosts(slack);
  const names = new Map([
    ...expected,
    ...counted.uncertain.map((name) => [postId(TEAM, name), name] as const),
  ]);
  const lost = [...expected].filter(([id]) => !counts.has(id)).map(([, name]) => name);
  const doubled = [...counts].filter(([, amount]) => amount > 1).map(([id]) => names.get(id) ?? id);
  return { ...counted, due: expected.size, lost, doubled };
}
