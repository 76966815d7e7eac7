import { stableFraction } from '../world/ids.ts';
import type { Kind, WeatherSettings } from './settings.ts';

/** What is drawn for a thing, by its key: the same key always draws the same. */
export interface Sky {
  /** Whether more is allowed than the specification's own freedom. */
  readonly wild: boolean;
  readonly share: number;
  /** Whether a kind of change may happen at all. */
  allows(kind: Kind): boolean;
  /** Whether it happens to this thing. */
  happens(kind: Kind, ...key: string[]): boolean;
  /** From 0 to 1, not included. */
  fraction(...key: string[]): number;
  pick<const T extends readonly [unknown, ...unknown[]]>(choices: T, ...key: string[]): T[number];
  /** The position of an identifier among those of its kind seen so far: made-up ones differ at every start. */
  ordinal(kind: string, identifier: string): string;
  /** How often this was asked before. */
  count(what: string): number;
}

export function createSky({ strength, seed, share, only }: WeatherSettings): Sky {
  const ordinals = new Map<string, Map<string, number>>();
  const counts = new Map<string, number>();
  const fraction = (...key: string[]) => stableFraction([seed, ...key].join('\n'));
  const allows = (kind: Kind) => only?.includes(kind) ?? true;
  return {
    wild: strength === 'wild',
    share,
    allows,
    fraction,
    happens: (kind, ...key) => allows(kind) && fraction('happens', kind, ...key) < share,
    pick: (choices, ...key) => choices[Math.floor(fraction('pick', ...key) * choices.length)],
    ordinal(kind, identifier) {
      const known = ordinals.get(kind) ?? new Map<string, number>();
      ordinals.set(kind, known);
      const number = known.get(identifier) ?? known.size + 1;
      known.set(identifier, number);
      return String(number);
    },
    count(what) {
      const before = counts.get(what) ?? 0;
      counts.set(what, before + 1);
      return before;
    },
  };
}
