import { z } from 'zod';
import type { Backend, Row } from './backend.ts';
import { StoreError } from './store.ts';

/** A stored document that cannot be read. It stays where it is, for a release that can read it. */
export interface QuarantinedRecord {
  workspace: string;
  collection: string;
  id: string;
  /** Who set it up, as far as that can be read. */
  owner: string | undefined;
}

/** The collection, in each workspace, of what cannot be read there. */
export const QUARANTINE = 'quarantine';

/** What a person or an operator needs to find it; nothing of what it holds. */
export const QuarantineMark = z.object({ collection: z.string(), id: z.string(), at: z.number() });
export type QuarantineMark = z.infer<typeof QuarantineMark>;

/** A document that cannot be read: an unknown shape, or one of a newer release. What needs it fails, and nothing else. */
export class DocumentUnreadable extends StoreError {
  override readonly code = 'document_unreadable';

  constructor(collection: string, options?: ErrorOptions) {
    super(`A stored document of ${collection} has an unexpected shape`, options);
    this.name = 'DocumentUnreadable';
  }
}

export interface QuarantineOptions {
  backend: Pick<Backend, 'insert'>;
  rowOf: (key: string, mark: QuarantineMark) => Promise<Row>;
  now: () => number;
  /** Called once for each record, however many replicas meet it. */
  onQuarantined: ((record: QuarantinedRecord) => void) | undefined;
}

/** Marks a record as unreadable; the first to do so reports it. */
export async function quarantine(
  { backend, rowOf, now, onQuarantined }: QuarantineOptions,
  { workspace, collection, id }: Omit<QuarantinedRecord, 'owner'>,
  doc: unknown,
): Promise<void> {
  const mark = { collection, id, at: now() };
  const key = `${workspace}/${QUARANTINE}/${collection} ${id}`;
  const isFirst = await backend.insert(await rowOf(key, mark));
  if (isFirst) onQuarantined?.({ workspace, collection, id, owner: ownerOf(doc) });
}

const OWNED = z.union([
  z.object({ setUpBy: z.string() }).transform(({ setUpBy }) => setUpBy),
  z.object({ connectedBy: z.string() }).transform(({ connectedBy }) => connectedBy),
  z.object({ startedBy: z.string() }).transform(({ startedBy }) => startedBy),
]);

function ownerOf(doc: unknown): string | undefined {
  return OWNED.safeParse(doc).data;
}
