import { changeRecord, type Fields, isFields, keyOf } from './change-record.ts';
import type { RecordKind } from './rules.ts';
import type { Sky } from './sky.ts';

interface ListRule {
  kind: RecordKind;
  /** Whether the specification promises an order. */
  ordered: boolean;
  /** What a row cannot do without; an odd row is one that lacks all of them. */
  identifiers: readonly string[];
  /** Names the list in the draws. */
  name: string;
  /** Changes what a row holds besides its fields. */
  inside?: (row: Fields) => Fields;
}

/** Every row as this weather has it, perhaps in another order, perhaps with one among them that is no record. */
export function changeList(sky: Sky, rows: unknown, rule: ListRule): unknown {
  if (!Array.isArray(rows)) return rows;
  const records = rows.filter(isFields);
  const ordered = rule.ordered ? records : shuffled(sky, records, rule.name);
  const changed: unknown[] = ordered.map((row) => {
    const inner = rule.inside?.(row) ?? row;
    return changeRecord(sky, rule.kind, inner, keyOf(row));
  });
  if (sky.wild && sky.happens('odd_rows', rule.name)) {
    const at = Math.floor(sky.fraction('odd row at', rule.name) * (changed.length + 1));
    changed.splice(at, 0, oddRow(sky, records, rule));
  }
  return changed;
}

function shuffled(sky: Sky, rows: Fields[], name: string): Fields[] {
  if (!sky.happens('order', name)) return rows;
  return rows.toSorted(
    (a, b) => sky.fraction('order', name, keyOf(a)) - sky.fraction('order', name, keyOf(b)),
  );
}

function oddRow(sky: Sky, records: Fields[], { identifiers, name }: ListRule): unknown {
  const [first = {}] = records;
  const nameless = Object.fromEntries(Object.entries(first).filter(([key]) => !identifiers.includes(key)));
  return sky.pick([null, 'gone', 42, [], nameless], 'odd row', name);
}
