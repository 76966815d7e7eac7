import process from 'node:process';

/** True under `npm run test:long`. */
const isLong = process.env.DECKHAND_TEST_LENGTH === 'long';

/** How often, or for how long, a proof is repeated: `npm test` runs its short form, `npm run test:long` its long one. */
export function byLength<T>(short: T, long: T): T {
  return isLong ? long : short;
}
