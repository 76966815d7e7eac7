import { INVOICE_SCHEDULES, type Requester, SCHEDULES } from '../../records/accounts.ts';
import type { Schedule, ScheduleKind, ScheduleOf } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { runGuard } from '../guards/guard.ts';
import { INVOICES, prepareNotices } from '../invoices/notices.ts';
import { ACTIVITY } from '../watches/feed.ts';
import { prepareWatch } from '../watches/watches.ts';
import { startPolling } from './polling.ts';
import { prepareTimed, startTimed } from './timed.ts';

/** How a kind of schedule does its work. */
export interface ScheduleType<S extends Schedule = Schedule> {
  /** Decides which of an account's keys it uses. */
  requester: Requester;
  /** Begins its work, unless it goes on already; the work ends by itself if no schedule is active. */
  start(workspace: Workspace, schedule: S): Promise<void>;
  /** Called once it is stored for the first time; safe to repeat. */
  onAdded?(workspace: Workspace, schedule: S): Promise<void>;
  /**
   * Asks the service before a person resumes it, so that a refusal is answered.
   * @returns stores the answer
   */
  prepareResume(workspace: Workspace, schedule: S): Promise<() => Promise<void>>;
}

const TYPES: { [K in ScheduleKind]: ScheduleType<ScheduleOf<K>> } = {
  digest: { requester: SCHEDULES, start: startTimed, prepareResume: prepareTimed },
  guard: {
    requester: SCHEDULES,
    start: startTimed,
    onAdded: (workspace, { id, requestId }) => runGuard(workspace, id, requestId),
    prepareResume: prepareTimed,
  },
  watch: {
    requester: SCHEDULES,
    start: (workspace, watch) => startPolling(workspace, ACTIVITY, watch),
    prepareResume: prepareWatch,
  },
  invoices: {
    requester: INVOICE_SCHEDULES,
    start: (workspace, notices) => startPolling(workspace, INVOICES, notices),
    prepareResume: prepareNotices,
  },
};

/** By kind. */
export const SCHEDULE_TYPES: Readonly<Record<ScheduleKind, ScheduleType>> = TYPES;
