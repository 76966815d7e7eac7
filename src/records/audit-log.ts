import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** One line of the audit log, without secrets. `what` is a command's name, `target` a public name. */
export const AuditEntry = z.object({
  at: z.number(),
  requestedBy: z.string(),
  what: z.string(),
  where: z.string().optional(),
  target: z.string().optional(),
  result: z.enum(['done', 'refused', 'failed']),
});
export interface AuditEntry extends z.infer<typeof AuditEntry> {}

export const KEPT_MS = 400 * DAY_MS;
/** Maximum number of rows of a workspace. */
export const MAX_AUDIT_ROWS = 50_000;
/** Number of entries between two deletions of old rows. */
const TRIM_EVERY = 100;

export interface AuditParts {
  store: WorkspaceStore;
  clock: Clock;
  log: Logger;
  onRecord: () => Promise<void>;
}

export function createAudit(parts: AuditParts) {
  const collection: Collection<AuditEntry> = parts.store.collection('audit', AuditEntry);
  let serial = 0;
  return {
    async record(entry: Omit<AuditEntry, 'at'>): Promise<void> {
      const at = parts.clock.now();
      // Ids sort by time, then by order within a millisecond, so a page reads only its own entries.
      serial = (serial + 1) % 1_000_000;
      const id = `${digits(at, 15)}-${digits(serial, 6)}-${randomUUID()}`;
      await collection.put(id, { at, ...entry }, at + KEPT_MS);
      const { requestedBy, what, where, result } = entry;
      parts.log.info(
        { event: 'audit', user: requestedBy, channel: where, command: what, result },
        'Audit entry recorded',
      );
      if (serial % TRIM_EVERY === 1) await collection.trim(MAX_AUDIT_ROWS - TRIM_EVERY);
      await parts.onRecord();
    },
    /** At most `limit` entries, newest first, after `offset` entries, or from the entry `upTo` on. */
    async latest(
      limit: number,
      from: { upTo?: string; offset?: number } = {},
    ): Promise<Array<{ id: string; entry: AuditEntry }>> {
      const rows = await collection.latest(limit, from);
      return rows.map(({ id, doc }) => ({ id, entry: doc }));
    },
  };
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
