import { setTimeout as wait } from 'node:timers/promises';
import { FOREIGN_TROUBLES, OWN_TROUBLES, type Trouble } from './faults.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Those that take the store away for a while. */
export const STORE_TROUBLES: ReadonlySet<string> = new Set(['disk full', 'Postgres restart']);

/** When something went wrong, by this machine's time. */
export interface Struck {
  name: string;
  from: number;
  to: number;
}

/** Lets troubles strike, two at a time, until it is told to end. */
export interface Storm {
  struck: Struck[];
  /** Ends with the troubles that go on. */
  end(): Promise<void>;
}

export interface Weather {
  /** The longest between two troubles of a kind, in milliseconds. */
  pauseMs: number;
  /** How much of their usual time the troubles last; all of it where left out. */
  scale?: number;
  /** False for troubles that are left out; by name. */
  strikes?: (name: string) => boolean;
}

export function startStorm(world: World, random: Random, weather: Weather): Storm {
  const { pauseMs, scale = 1, strikes = () => true } = weather;
  const brief: Random = { ...random, between: (low, high) => random.between(low, high) * scale };
  const struck: Struck[] = [];
  const ending = new AbortController();

  async function blow(troubles: readonly [Trouble, ...Trouble[]]): Promise<void> {
    const fitting = troubles
      .filter((trouble) => trouble.applies(world) && strikes(trouble.name))
      .flatMap((trouble) => Array.from({ length: trouble.times ?? 1 }, () => trouble));
    let left = shuffled(fitting, random);
    while (!ending.signal.aborted) {
      await wait(random.between(pauseMs / 4, pauseMs));
      if (left.length === 0) left = shuffled(fitting, random);
      const trouble = left.pop();
      if (trouble === undefined || ending.signal.aborted) return;
      const now: Struck = { name: trouble.name, from: Date.now(), to: Number.POSITIVE_INFINITY };
      struck.push(now);
      await trouble.strike(world, brief);
      now.to = Date.now();
    }
  }

  const blowing = Promise.all([blow(OWN_TROUBLES), blow(FOREIGN_TROUBLES)]);
  return {
    struck,
    async end() {
      ending.abort();
      await blowing;
    },
  };
}

/** Each comes as often as it should before any comes more often. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
