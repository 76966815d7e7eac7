import type { z } from 'zod';
import { Digest, Guard, InvoiceNotices, type ScheduleKind, Watch } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { addNotices } from '../invoices/notices.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { pauseSchedule } from '../schedules/pause-schedule.ts';
import { whyNot } from '../schedules/reconcile-schedules.ts';
import { removeSchedules } from '../schedules/remove-schedules.ts';
import { addTimed, editTimed } from '../schedules/start-schedule.ts';
import { addWatch, changeWatch } from '../watches/watches.ts';

/** The id of a schedule, and the request that sets it up or changes it. */
interface EntryKey {
  id: string;
  requestId: string;
}

/** How a kind of schedule is made what its entry says. An entry is what people choose, in a file or a form. */
interface EntryKind<E> {
  entry: z.ZodType<E>;
  add(workspace: Workspace, key: EntryKey, entry: E): Promise<unknown>;
  change(workspace: Workspace, key: EntryKey, entry: E): Promise<unknown>;
}

const Placed = { channel: true, createdBy: true } as const;
const Timed = { cadence: true, zone: true, account: true, project: true } as const;

// The order is that of the file of `export`.
export const DigestEntry = Digest.pick({ ...Timed, range: true, skipQuiet: true, ...Placed });
export const GuardEntry = Guard.pick({ ...Timed, escalation: true, ...Placed });
export const WatchEntry = Watch.pick({
  project: true,
  pattern: true,
  server: true,
  mode: true,
  hours: true,
  escalation: true,
  ...Placed,
  account: true,
});
export const NoticesEntry = InvoiceNotices.pick({ account: true, ...Placed });

const ENTRY_KINDS = {
  digest: {
    entry: DigestEntry,
    add: (workspace, key, entry) => addTimed(workspace, { ...entry, ...key, kind: 'digest' }),
    change: (workspace, { id }, entry) => editTimed(workspace, id, { ...entry, kind: 'digest' }),
  } satisfies EntryKind<z.infer<typeof DigestEntry>>,
  guard: {
    entry: GuardEntry,
    add: (workspace, key, entry) => addTimed(workspace, { ...entry, ...key, kind: 'guard' }),
    change: (workspace, { id }, entry) =>
      // The key is present even if the entry has none, so that the stored escalation is removed.
      editTimed(workspace, id, { ...entry, kind: 'guard', escalation: entry.escalation }),
  } satisfies EntryKind<z.infer<typeof GuardEntry>>,
  watch: {
    entry: WatchEntry,
    add: (workspace, key, entry) => addWatch(workspace, { ...entry, ...key }),
    async change(workspace, key, entry) {
      const { channel, account, createdBy, mode, project, pattern, server, hours, escalation } = entry;
      const before = await workspace.schedules.get('watch', key.id);
      const choices = { createdBy, mode, project, pattern, server, hours, escalation };
      if (before?.channel === channel && before.account === account)
        return changeWatch(workspace, key.id, choices);
      // In one step, so that pushes of a project that stays watched go on.
      return addWatch(workspace, { ...entry, ...key });
    },
  } satisfies EntryKind<z.infer<typeof WatchEntry>>,
  invoices: {
    entry: NoticesEntry,
    add: (workspace, { requestId }, entry) => addNotices(workspace, { ...entry, requestId }),
    change: ({ schedules }, { id }, { createdBy }) =>
      schedules.change({ kind: 'invoices', id }, (current) => ({ ...current, createdBy })),
  } satisfies EntryKind<z.infer<typeof NoticesEntry>>,
};

/** One change of what is set up. `before` and `after` are entries of the kind, or records with more fields. */
export interface EntryChange {
  kind: ScheduleKind;
  id: string;
  before?: object | undefined;
  after?: object | undefined;
}

/**
 * Makes one change. Safe to repeat.
 * @param requestId names the change in what it adds, and its removal for "Undo"
 * @throws UserError if the channel or the workspace would have too many schedules
 */
export async function applyEntry(
  workspace: Workspace,
  { kind, id, before, after }: EntryChange,
  requestId: string,
): Promise<void> {
  if (after === undefined) {
    const schedule = await workspace.schedules.get(kind, id);
    if (schedule !== undefined) await removeSchedules(workspace, [schedule], requestId);
    return;
  }
  const entries: EntryKind<unknown> = ENTRY_KINDS[kind];
  const entry = entries.entry.parse(after);
  const key = { id, requestId };
  if (before !== undefined) return void (await entries.change(workspace, key, entry));
  await entries.add(workspace, key, entry);
  await pauseUnlessServed(workspace, kind, id);
}

/** Pauses a schedule that cannot run yet, without telling its owner: it resumes once its account is connected. */
async function pauseUnlessServed(workspace: Workspace, kind: ScheduleKind, id: string): Promise<void> {
  const schedule = await workspace.schedules.get(kind, id);
  if (schedule === undefined) return;
  const accounts = await workspace.accounts.list(SCHEDULE_TYPES[kind].keyUse);
  const why = await whyNot(workspace, schedule, accounts);
  const at = workspace.clock.now();
  if (why !== undefined) await pauseSchedule(workspace, schedule, { kind: 'paused', ...why, at });
}
