import { writeSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { ACTS } from './acts.ts';
import { type Row, runAct, tableOf } from './matrix.ts';
import type { StoreKind } from './site.ts';

const STORES = byLength<readonly StoreKind[]>(['sqlite'], ['sqlite', 'postgres']);
/** The short form shows that the matrix works; the long one goes through every call. */
const ACTS_TRIED = byLength(ACTS.slice(0, 1), ACTS);
const MOST_POINTS = byLength(1, 40);

describe.each(STORES)('a process that is killed before and after each of its calls, on %s', (store) => {
  const rows: Row[] = [];
  afterAll(() => void writeSync(1, `\n${tableOf(rows)}\n`));

  it.each(ACTS_TRIED)('loses nothing of $name, and doubles only what it counts', async (act) => {
    const row = await runAct(act, store, MOST_POINTS);
    rows.push(row);
    expect(row.kills, 'the kills came').toBeGreaterThan(0);
    expect(row.lost).toEqual([]);
    expect(row.doubled).toBeLessThanOrEqual(row.counted);
  });
});
