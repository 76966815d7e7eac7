import { setTimeout as wait } from 'node:timers/promises';
import type { Fault as ServiceFault } from '../../sandbox/service/faults.ts';
import { ACCOUNT } from '../support/test-world.ts';
import type { World } from './world.ts';

/** Chance that a seed repeats. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
  };
}

/** Something that goes wrong for a while; it resolves when that is over. */
type Trouble = (world: World, random: Random) => Promise<void>;

const SECOND = 1_000;
/** Longer than Deckhand waits for Slack, and for the service. */
const SILENCE_MS = { slack: 11 * SECOND, service: 16 * SECOND } as const;

/** Faults of Deckhand's own processes and store; one at a time. */
function ownTroubles({ disk, postgres }: World): Record<string, Trouble> {
  return {
    'kill -9': ({ replicas }, random) => random.pick(replicas).end('kill', random.between(0, 2 * SECOND)),
    'kill -9 again': ({ replicas }, random) => random.pick(replicas).end('kill', random.between(0, SECOND)),
    SIGTERM: ({ replicas }, random) => random.pick(replicas).end('stop', random.between(0, 2 * SECOND)),
    ...(disk && {
      async 'store: disk full'(_world, random) {
        disk.fill();
        await wait(random.between(2 * SECOND, 12 * SECOND));
        disk.free();
      },
    }),
    ...(postgres && {
      'store: Postgres restart': (_world, random) =>
        postgres.restart(random.pick(['fast', 'crash']), random.between(0.2 * SECOND, 8 * SECOND)),
    }),
  };
}

/** Faults of Slack and of the service; one at a time, beside the others. */
const FOREIGN_TROUBLES: Record<string, Trouble> = {
  'Slack 429': slackTrouble({ status: 429, retryAfter: 2 }),
  'Slack 503': slackTrouble({ status: 503 }),
  'Slack time-out': slackTrouble({ delayMs: SILENCE_MS.slack, times: 4 }),
  'Slack drops the request': slackTrouble({ drop: 'before', times: 8 }),
  'Slack loses the answer': slackTrouble({ drop: 'after', times: 4 }),
  'Slack answers no JSON': slackTrouble({ malformed: true, times: 4 }),
  'service 429': serviceTrouble({ status: 429, retryAfter: '2' }),
  'service 500': serviceTrouble({ status: 500 }),
  'service 503 with Retry-After': serviceTrouble({ status: 503, retryAfter: '2' }),
  'service drops the request': serviceTrouble({ drop: true }),
  'service loses the answer': serviceTrouble({ drop: true, afterHandling: true, times: 4 }),
  'service bad JSON': serviceTrouble({ badJson: true }),
  'service time-out': serviceTrouble({ delayMs: SILENCE_MS.service, times: 6 }),
};

function slackTrouble(fault: Omit<Parameters<World['slack']['fault']>[0], 'method'>): Trouble {
  return async ({ slack }, random) => {
    const end = slack.fault({ method: '*', ...fault });
    await wait((fault.delayMs ?? 0) + random.between(2 * SECOND, 8 * SECOND));
    end();
  };
}

function serviceTrouble(fault: Omit<Partial<ServiceFault>, 'path'>): Trouble {
  return async ({ service }, random) => {
    const added = service.faults.add({ path: `/${ACCOUNT}/**`, ...fault });
    await wait((fault.delayMs ?? 0) + random.between(2 * SECOND, 10 * SECOND));
    added.remove();
  };
}

/** When something went wrong, by this machine's time. */
export interface Strike {
  name: string;
  from: number;
  to: number;
}

/** Two faults at a time until it is told to end. Each strikes as often as the others. */
export function startStorm(world: World, random: Random, pauseMs: number) {
  const strikes: Strike[] = [];
  let isOver = false;
  async function blow(troubles: Record<string, Trouble>): Promise<void> {
    for (let rest: Array<[string, Trouble]> = []; !isOver; ) {
      await wait(random.between(pauseMs / 4, pauseMs));
      if (rest.length === 0) rest = Object.entries(troubles);
      const [[name, strike] = ['', async () => undefined]] = rest.splice(random.between(0, rest.length), 1);
      const one: Strike = { name, from: Date.now(), to: Number.POSITIVE_INFINITY };
      strikes.push(one);
      await strike(world, random);
      one.to = Date.now();
    }
  }
  const blowing = Promise.all([blow(ownTroubles(world)), blow(FOREIGN_TROUBLES)]);
  return {
    strikes,
    async end() {
      isOver = true;
      await blowing;
    },
  };
}
