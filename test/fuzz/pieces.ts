import fc from 'fast-check';
import { allCommands } from '../../src/commands/registry.ts';
import { hostileText } from '../support/hostile.ts';

export const JSON_TYPE = 'application/json';
export const commands = allCommands();

export const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  hostileText,
  fc.constantFrom(null, true, -1, 1e308, '', '{}', '[]', '__proto__', 'constructor', '\u0000'),
);
/** Mostly what belongs there, so that a case gets deep before it meets something odd. */
export const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: junk });
export const idOf = (known: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...known, 'unknown') },
    { weight: 1, arbitrary: hostileText },
  );

export const words = fc.oneof(
  fc.constantFrom('', 'storefront', 'web-1', '--account', 'acme', '--stats', '"', '“x”', '<!channel>', '-1'),
  hostileText,
);
