import { writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { ACTS } from './acts.ts';
import { runAct } from './matrix.ts';
import type { StoreKind } from './site.ts';

const STORES = byLength<readonly StoreKind[]>(['sqlite'], ['sqlite', 'postgres']);
/** The short form shows that the matrix works; the long one goes through every call. */
const ACTS_TRIED = ACTS.filter(({ name }) => byLength(name === 'test', true));
const MAX_POINTS = byLength(1, 50);
/** Each takes its share of the points, so that one can be run by itself: `-t 'postgres.*roles, 2 of 9'`. */
const PARTS = byLength(5, 9);
const PARTS_TRIED = Array.from({ length: byLength(1, PARTS) }, (_, at) => at);
const CASES = ACTS_TRIED.flatMap((act) =>
  PARTS_TRIED.map((first) => ({ act, first, part: `${act.name}, ${first + 1} of ${PARTS}` })),
);

describe.each(STORES)('a process that is killed before and after each of its calls, on %s', (store) => {
  it.each(CASES)('loses nothing of $part, and doubles only what it counts', async ({ act, first, part }) => {
    const row = await runAct(act, store, { most: MAX_POINTS, every: PARTS, first });
    writeSync(1, `\n${part} on ${store}: ${JSON.stringify(row)}\n`);
    expect(row.kills, 'the kills came').toBeGreaterThan(0);
    expect(row.lost).toEqual([]);
    expect(row.uncounted).toEqual([]);
  });
});
