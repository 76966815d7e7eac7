import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type Backend, part, rowOf } from './backend.ts';
import { type QuarantinedRecord, StoreError } from './store.ts';

/** The collection, in each workspace, of what cannot be read there. */
export const QUARANTINE = 'quarantine';

/** What a person or an operator needs to find it; nothing of what it holds. */
export const QuarantineMark = z.object({
  kind: z.enum(['document', 'job', 'schedule']).default('document'),
  collection: z.string(),
  id: z.string(),
  at: z.number(),
});
export type QuarantineMark = z.infer<typeof QuarantineMark>;

/** The id of a record's mark. */
export function markId({ kind, collection, id }: Omit<QuarantineMark, 'at'>): string {
  return kind === 'document' ? `${collection} ${id}` : `${kind} ${collection} ${id}`;
}

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
  clock: Clock;
  /** Called once for each record, however many replicas meet it. */
  onQuarantined: ((record: QuarantinedRecord) => void) | undefined;
}

/** Marks a record as unreadable; the first to do so reports it. */
export async function quarantine(
  { backend, clock, onQuarantined }: QuarantineOptions,
  record: QuarantinedRecord,
): Promise<void> {
  const { kind, workspace, collection, id } = record;
  const mark: QuarantineMark = { kind, collection, id, at: clock.now() };
  const key = `${part(workspace)}/${QUARANTINE}/${markId(mark)}`;
  const isFirst = await backend.insert(rowOf(clock, key, mark, undefined));
  if (isFirst) onQuarantined?.(record);
}

const OWNED = z.union([
  z.object({ setUpBy: z.string() }).transform(({ setUpBy }) => setUpBy),
  z.object({ connectedBy: z.string() }).transform(({ connectedBy }) => connectedBy),
  z.object({ startedBy: z.string() }).transform(({ startedBy }) => startedBy),
  z.object({ askedBy: z.string() }).transform(({ askedBy }) => askedBy),
  z.object({ user: z.string() }).transform(({ user }) => user),
  z.object({ caller: z.object({ user: z.string() }) }).transform(({ caller }) => caller.user),
]);

/** Who set it up or asked for it. */
export function ownerOf(doc: unknown): string | undefined {
  return OWNED.safeParse(doc).data;
}
