import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Product } from '../../sandbox/demo/product.ts';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createProduct } from '../support/program.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import { ACCOUNT, addTestAccount, environment, furnish } from '../support/test-world.ts';
import { createMachineClock } from './machine-clock.ts';
import { judge, postsOf, setUpDigests, untilPosted, type Verdict } from './slot-posts.ts';

const MINUTE = 60_000;
/** About what a start takes, so that the slots fall due right after it. */
const START_MS = 1_200;
/** Kills come at any moment of this, while the slots of a minute are dealt with. */
const KILL_WITHIN_MS = 3_000;
const KILLS_A_SLOT = 5;
const MAX_WAIT_MS = 120_000;

export interface ChaosResult extends Verdict {
  kills: number;
  /** What was posted again although Slack might have had it, as counted by Deckhand. */
  uncertain: string[];
}

interface Options {
  kills: number;
  digests: number;
  /** Kills come once so many digests of the slot are posted; by default at any moment. */
  amid?: number;
  onSlot?: (killed: number) => void;
}

/** Kills Deckhand with `kill -9` at random moments while its digests fall due each minute, and counts what came of it. */
export async function runChaos({ kills, digests, amid, onSlot }: Options): Promise<ChaosResult> {
  const service = await startSimulatedService();
  const slack = await startSlack();
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-chaos-'));
  const { botToken } = furnish(slack);
  addTestAccount(service, undefined);
  const endedAt = Date.now();
  service.world.addDeployment({ account: ACCOUNT, project: 'storefront', endedAt, succeeded: false });
  const product = createShifted(slack, environment(slack, service, botToken, folder), join(folder, 'clock'));
  const slots: number[] = [];
  let killed = 0;
  try {
    await product.restart();
    const ids = await setUpDigests(slack, digests);
    // What is killed are digests, not the commands that set them up.
    await product.stop();
    while (killed < kills) {
      slots.push(product.shiftToNextMinute());
      await product.restart();
      for (let at = 0; at < KILLS_A_SLOT && killed < kills; at += 1) {
        const posts = postsOf(ids, slots.slice(-1));
        const open = (): number => judge(slack, posts, []).lost.length;
        if (amid === undefined) await systemClock.sleep(Math.random() * KILL_WITHIN_MS);
        else await slack.until(() => digests - open() >= amid, { what: 'the first digests' });
        await product.restart();
        killed += 1;
      }
      await untilPosted(slack, postsOf(ids, slots.slice(-1)), MAX_WAIT_MS);
      onSlot?.(killed);
    }
    await product.stop();
    const { uncertain } = product;
    return { kills: killed, uncertain, ...judge(slack, postsOf(ids, slots), uncertain) };
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
function createShifted(slack: LocalSlack, env: Record<string, string>, file: string): Shifted {
  const clock = createMachineClock(file);
  const uncertain: string[] = [];
  let shift = 0;
  let product: Product | undefined;

  function onLine(line: string): void {
    if (line.includes('"event":"possible_duplicate"'))
      uncertain.push((JSON.parse(line) as { delivery: string }).delivery);
  }

  return {
    uncertain,
    async restart() {
      await product?.kill();
      clock.set(shift);
      product = createProduct({ ...env, ...clock.env, LOG_LEVEL: 'info' }, onLine);
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
