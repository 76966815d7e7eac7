import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { systemClock } from '../core/clock.ts';
import { keyOf, rowOf } from './backend.ts';
import { readSignatures, type SignatureRow } from './sqlite.ts';
import { GLOBAL } from './store.ts';

/** A document as its row is, sealed values included. */
export const PortableDocument = z.object({
  key: z.string(),
  value: z.string(),
  expires: z.number().nullable(),
});
export type PortableDocument = z.infer<typeof PortableDocument>;

/** All documents of a store, within one transaction. */
export interface DocumentsTable {
  read(): AsyncIterable<PortableDocument>;
  add(documents: readonly PortableDocument[]): Promise<void>;
  clear(): Promise<void>;
}

const Rows = z.array(PortableDocument);
const PAGE = 500;

export function sqliteDocuments(db: DatabaseSync): DocumentsTable {
  const read = db.prepare(
    `SELECT key, value, CAST(expires AS REAL) AS expires FROM keyv WHERE namespace = '' AND key > ? ORDER BY key LIMIT ${PAGE}`,
  );
  const add = db.prepare(`INSERT INTO keyv (key, value, namespace, expires) VALUES (?, ?, '', ?)`);
  return {
    async *read() {
      yield* paged(async (after) => Rows.parse(read.all(after)));
      yield* readSignatures(db).map(documentOf);
    },
    add: async (documents) => {
      for (const { key, value, expires } of documents) add.run(key, value, expires);
    },
    clear: async () => db.exec('DELETE FROM keyv'),
  };
}

/** As it stands where replicas share the store. */
function documentOf({ digest, expires }: SignatureRow): PortableDocument {
  const key = keyOf(GLOBAL, 'signatures', digest);
  const { text } = rowOf(systemClock, key, { at: systemClock.now() }, expires);
  return { key, value: text, expires };
}

type Sql = (text: string, values?: unknown[]) => Promise<unknown[]>;

export function postgresDocuments(sql: Sql): DocumentsTable {
  const read = `SELECT key, value, CAST(expires AS double precision) AS expires FROM keyv
    WHERE COALESCE(namespace, '') = '' AND key COLLATE "C" > $1 ORDER BY key COLLATE "C" LIMIT ${PAGE}`;
  const add = `INSERT INTO keyv (key, value, expires)
    SELECT key, value, expires FROM json_to_recordset($1::json) AS r (key text, value text, expires bigint)`;
  return {
    read: () => paged(async (after) => Rows.parse(await sql(read, [after]))),
    add: async (documents) => void (await sql(add, [JSON.stringify(documents)])),
    clear: async () => void (await sql('DELETE FROM keyv')),
  };
}

async function* paged(
  pageAfter: (key: string) => Promise<PortableDocument[]>,
): AsyncGenerator<PortableDocument> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: PortableDocument[] = await pageAfter(after);
    yield* page;
    after = page.at(-1)?.key;
  }
}
