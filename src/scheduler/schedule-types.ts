import { INVOICE_SCHEDULES, type KeyUse, SCHEDULES } from '../records/accounts.ts';
import type { Schedule, ScheduleKind, ScheduleOf } from '../records/schedules.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { digestJob } from './digests/post-digest.ts';
import { GUARD_CHECKS, GUARD_OUTCOMES, GUARD_RUNS, runGuard } from './guards/guard-runs.ts';
import { INVOICES, prepareNotices } from './invoices/notices.ts';
import { prepareTimed, startTimed } from './schedules/occurrences.ts';
import { defineSourceJobs, forgetPolling, startPolling } from './schedules/polling.ts';
import { ACTIVITY, planFeedReads } from './watches/feed.ts';
import { endUnwatched, planSettling, SETTLE_PUSHES } from './watches/switch-push.ts';
import { prepareWatch } from './watches/watches.ts';

/** The work of a kind of schedule. */
export interface ScheduleType<S extends Schedule = Schedule> {
  keyUse: KeyUse;
  /** Its jobs. @param startedAt start of this process, milliseconds since the epoch */
  listJobs(startedAt: number): ReadonlyArray<JobDefinition<unknown>>;
  /** Starts its work, unless it runs already. The work ends by itself if no schedule is active. */
  start(workspace: Workspace, schedule: S): Promise<void>;
  /** Starts work of the kind that goes on without a schedule. Safe to repeat. */
  startAlways?(workspace: Workspace): Promise<void>;
  /** Called after it is stored for the first time. Safe to repeat. */
  onAdded?(workspace: Workspace, schedule: S): Promise<void>;
  /**
   * Calls the service before a person resumes the schedule, so that the person sees a refusal.
   * @returns stores the answer
   */
  prepareResume(workspace: Workspace, schedule: S): Promise<() => Promise<void>>;
  /** Forgets how an account was polled. */
  forgetAccount?(workspace: Workspace, account: string): Promise<void>;
  /** Called before and after schedules of the kind are removed. @param request id of the removal */
  beforeRemoval?(workspace: Workspace): Promise<void>;
  afterRemoval?(workspace: Workspace, request: string): Promise<void>;
  /** Called after a removal is undone. @param removal its id */
  afterRestoring?(workspace: Workspace, removal: string): Promise<void>;
}

const TYPES = {
  digest: {
    keyUse: SCHEDULES,
    listJobs: (startedAt) => [digestJob(startedAt)],
    start: startTimed,
    prepareResume: prepareTimed,
  },
  guard: {
    keyUse: SCHEDULES,
    listJobs: () => [GUARD_RUNS, GUARD_CHECKS, GUARD_OUTCOMES],
    start: startTimed,
    onAdded: (workspace, { id, requestId }) => runGuard(workspace, id, requestId),
    prepareResume: prepareTimed,
  },
  watch: {
    keyUse: SCHEDULES,
    listJobs: () => [...defineSourceJobs(ACTIVITY), SETTLE_PUSHES],
    start: (workspace, watch) => startPolling(workspace, ACTIVITY, watch),
    startAlways: planFeedReads,
    prepareResume: prepareWatch,
    forgetAccount: (workspace, account) => forgetPolling(workspace, ACTIVITY, account),
    beforeRemoval: (workspace) => planSettling(workspace),
    afterRemoval: endUnwatched,
    afterRestoring: (workspace, restored) => planSettling(workspace, { restored }),
  },
  invoices: {
    keyUse: INVOICE_SCHEDULES,
    listJobs: () => defineSourceJobs(INVOICES),
    start: (workspace, notices) => startPolling(workspace, INVOICES, notices),
    prepareResume: prepareNotices,
    forgetAccount: (workspace, account) => forgetPolling(workspace, INVOICES, account),
  },
} satisfies { [K in ScheduleKind]: ScheduleType<ScheduleOf<K>> };

/** The kinds of schedules. A kind that is missing here is a type error. */
export const SCHEDULE_TYPES: Readonly<Record<ScheduleKind, ScheduleType>> = TYPES;
