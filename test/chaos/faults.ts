import { setTimeout as wait } from 'node:timers/promises';
import type { Fault as ServiceFault } from '../../sandbox/service/faults.ts';
import type { Random } from './random.ts';
import { SIDES } from './sides.ts';
import type { World } from './world.ts';

/** Something that goes wrong for a while. */
export interface Trouble {
  name: string;
  /** How many times it strikes while others strike once. */
  times?: number;
  /** False where this world has no such part. */
  applies(world: World): boolean;
  /** Resolves when it is over. */
  strike(world: World, random: Random): Promise<void>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Longer than Deckhand waits for Slack. */
const SLACK_SILENCE_MS = 11_000;
/** Longer than Deckhand waits for the service. */
const SERVICE_SILENCE_MS = 16_000;

const always = (): boolean => true;
const onPostgres = ({ store }: World): boolean => store === 'postgres';

/** What happens to Deckhand's own process, clock and store; one at a time. */
export const OWN_TROUBLES: readonly [Trouble, ...Trouble[]] = [
  {
    name: 'kill -9',
    times: 4,
    applies: always,
    strike: ({ replicas }, random) => random.pick(replicas).kill(random.between(0, 2 * SECOND)),
  },
  {
    name: 'SIGTERM',
    times: 2,
    applies: always,
    strike: ({ replicas }, random) => random.pick(replicas).restart(random.between(0, 2 * SECOND)),
  },
  {
    name: 'disk full',
    times: 2,
    applies: ({ disk }) => disk !== undefined,
    async strike({ disk }, random) {
      disk?.fill();
      await wait(random.between(2 * SECOND, 12 * SECOND));
      disk?.free();
    },
  },
  {
    name: 'Postgres restart',
    times: 3,
    applies: onPostgres,
    strike: async ({ postgres }, random) =>
      postgres?.restart(random.pick(['fast', 'crash']), random.between(0.2 * SECOND, 8 * SECOND)),
  },
  {
    name: 'the machines sleep',
    applies: always,
    strike: (world, random) => world.sleepThrough(random.pick([2 * MINUTE, 10 * MINUTE, HOUR])),
  },
  {
    name: 'clock behind, then set right',
    applies: always,
    strike: (world, random) =>
      misset(world, random, -random.pick([20 * SECOND, 3 * MINUTE, 4 * MINUTE, HOUR])),
  },
  {
    name: 'database clock ahead',
    applies: onPostgres,
    async strike(world, random) {
      await world.setDatabaseClock(random.between(5 * SECOND, 30 * SECOND));
      await wait(random.between(3 * SECOND, 10 * SECOND));
      await world.setDatabaseClock(0);
    },
  },
];

/** A clock that is behind for a while. One that is ahead deals with occurrences too early, and they do not come again. */
async function misset(world: World, random: Random, errorMs: number): Promise<void> {
  const replica = random.pick(world.replicas);
  const aheadMs = world.now() - Date.now();
  replica.setClock(aheadMs, errorMs);
  await wait(random.between(3 * SECOND, 15 * SECOND));
  replica.setClock(aheadMs, 0);
  await wait(random.between(1 * SECOND, 5 * SECOND));
}

/** What Slack and the service do; goes on beside the others. */
export const FOREIGN_TROUBLES: readonly [Trouble, ...Trouble[]] = [
  slackTrouble('Slack 429', (random) => ({ status: 429, retryAfter: Math.ceil(random.between(0, 4)) })),
  slackTrouble('Slack 5xx', (random) => ({ status: random.pick([500, 502, 503]) })),
  slackTrouble(
    'Slack time-out',
    () => ({ delayMs: SLACK_SILENCE_MS, times: 4 }),
    SLACK_SILENCE_MS + 2 * SECOND,
  ),
  slackTrouble('Slack drops the request', () => ({ drop: 'before', times: 8 })),
  slackTrouble('Slack loses the answer', () => ({ drop: 'after', times: 4 })),
  slackTrouble('Slack answers no JSON', () => ({ malformed: true, times: 4 })),
  serviceTrouble('service 429', (random) => ({
    status: 429,
    retryAfter: String(Math.ceil(random.between(0, 4))),
  })),
  serviceTrouble('service 503', () => ({ status: 503 })),
  serviceTrouble('service 503 with Retry-After', () => ({ status: 503, retryAfter: '2' })),
  serviceTrouble('service 500', () => ({ status: 500 })),
  serviceTrouble('service drops the request', () => ({ drop: true })),
  serviceTrouble('service loses the answer', () => ({ drop: true, afterHandling: true, times: 4 })),
  serviceTrouble('service bad JSON', () => ({ badJson: true })),
  serviceTrouble(
    'service time-out',
    () => ({ delayMs: SERVICE_SILENCE_MS, times: 6 }),
    SERVICE_SILENCE_MS + 2 * SECOND,
  ),
];

type SlackFault = Omit<Parameters<World['slack']['fault']>[0], 'method'>;

function slackTrouble(name: string, fault: (random: Random) => SlackFault, lastsMs?: number): Trouble {
  return {
    name,
    applies: always,
    async strike({ slack }, random) {
      const end = slack.fault({ method: '*', ...fault(random) });
      await wait(lastsMs ?? random.between(2 * SECOND, 8 * SECOND));
      end();
    },
  };
}

function serviceTrouble(
  name: string,
  fault: (random: Random) => Omit<Partial<ServiceFault>, 'path'>,
  lastsMs?: number,
): Trouble {
  return {
    name,
    applies: always,
    async strike({ service }, random) {
      const given = fault(random);
      const ends = SIDES.map(({ account }) => service.faults.add({ path: `/${account}/**`, ...given }));
      await wait(lastsMs ?? random.between(2 * SECOND, 10 * SECOND));
      for (const end of ends) end.remove();
    },
  };
}
