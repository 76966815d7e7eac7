import fc from 'fast-check';
import { allCommands } from '../../src/commands/registry.ts';
import { hostileText } from '../support/hostile.ts';

export const JSON_TYPE = 'application/json';
export const commands = allCommands();

/** One of these, each as often as its number says. */
export const oftenOf = <T>(...pairs: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...pairs.map(([weight, arbitrary]) => ({ weight, arbitrary })));
export const maybe = <T>(right: fc.Arbitrary<T>, freq = 1) => fc.option(right, { nil: undefined, freq });

export const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  hostileText,
  fc.constantFrom(null, true, -1, 1e308, '', '{}', '[]', '__proto__', 'constructor', '\u0000'),
);
/** Mostly what belongs there, so that a case gets deep before it meets something odd. */
export const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  oftenOf<unknown>([8, right], [1, junk]);
export const idOf = (known: readonly string[]): fc.Arbitrary<string> =>
  oftenOf([9, fc.constantFrom(...known, 'unknown')], [1, hostileText]);

export const words = fc.oneof(
  fc.constantFrom('', 'storefront', 'web-1', '--account', 'acme', '--stats', '"', '“x”', '<!channel>', '-1'),
  hostileText,
);
