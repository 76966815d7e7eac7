import { changeRecord, type Fields, isFields, keyOf } from './change-record.ts';
import type { RecordKind } from './rules.ts';
import type { Sky } from './sky.ts';

/** Lists whose order the specification promises. */
const ORDERED = new Set<RecordKind>(['invoice']);

/** What a row cannot do without; an odd row is one that lacks all of them. */
const IDENTIFIERS = new Set(['identifier', 'permalink', 'name', 'slug', 'label', 'number']);

interface ListOptions {
  /** Names the list in the draws. */
  name: string;
  /** Changes what a row holds besides its fields. */
  inside?: (row: Fields) => Fields;
}

/** Every row as this weather has it, perhaps in another order, perhaps with one among them that is no record. */
export function changeList(
  sky: Sky,
  kind: RecordKind,
  rows: unknown,
  { name, inside }: ListOptions,
): unknown {
  if (!Array.isArray(rows)) return rows;
  const records = rows.filter(isFields);
  const ordered = ORDERED.has(kind) ? records : shuffled(sky, records, name);
  const changed: unknown[] = ordered.map((row) => changeRecord(sky, kind, inside?.(row) ?? row, keyOf(row)));
  if (sky.wild && sky.happens('odd_rows', name)) {
    const at = Math.floor(sky.fraction('odd row at', name) * (changed.length + 1));
    changed.splice(at, 0, oddRow(sky, records, name));
  }
  return changed;
}

function shuffled(sky: Sky, rows: Fields[], name: string): Fields[] {
  if (!sky.happens('order', name)) return rows;
  return rows.toSorted(
    (a, b) => sky.fraction('order', name, keyOf(a)) - sky.fraction('order', name, keyOf(b)),
  );
}

function oddRow(sky: Sky, records: Fields[], name: string): unknown {
  const [first = {}] = records;
  const nameless = Object.fromEntries(Object.entries(first).filter(([key]) => !IDENTIFIERS.has(key)));
  return sky.pick([null, 'gone', 42, [], nameless], 'odd row', name);
}
