import type { JobInsert, PgBoss } from 'pg-boss';
import type { Standing } from './jobs.ts';
import { inTransaction } from './pg-boss.ts';
import { lockStanding } from './pg-boss-tables.ts';

export interface ToStore {
  insert: JobInsert & { id: string };
  during: Standing | undefined;
}

/** Stores what belongs to nothing that has ended, in one transaction that holds what it belongs to. */
export async function insertStanding(
  boss: PgBoss,
  queue: string,
  all: readonly ToStore[],
): Promise<{ stored: Set<string>; ended: Set<string> }> {
  const guards = all.flatMap(({ during }) => during ?? []);
  if (guards.length === 0) {
    const inserts = all.map(({ insert }) => insert);
    return { stored: new Set(await boss.insert(queue, inserts, { returnId: true })), ended: new Set() };
  }
  return inTransaction(boss, async (db) => {
    const standing = await lockStanding(db, guards);
    const isStanding = ({ during }: ToStore): boolean =>
      during === undefined || standing.get(during.key) === during.text;
    const rows = all.filter(isStanding).map(({ insert }) => insert);
    const ended = new Set(
      guards.filter(({ key, text }) => standing.get(key) !== text).map(({ text }) => text),
    );
    const ids = rows.length === 0 ? [] : await boss.insert(queue, rows, { returnId: true, db });
    return { stored: new Set(ids), ended };
  });
}
