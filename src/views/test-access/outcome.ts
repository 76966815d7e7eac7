import { mrkdwn } from '../../core/mrkdwn.ts';
import type { TestRun } from '../../service/test-access.ts';

/** What is kept of a run that has ended: enough to show it alike everywhere. */
export interface RunOutcome {
  /** The service's word, which may be any; absent in records of earlier releases. */
  serviceStatus?: string | undefined;
  /** Absent in a run of one server. */
  repository?: 'ok' | 'error' | undefined;
  /** Of the servers. */
  reachable?: number | undefined;
  total?: number | undefined;
  /** How many results could not be read. */
  unread?: number | undefined;
}

export function outcomeOf({ status, results }: Pick<TestRun, 'status' | 'results'>): RunOutcome {
  const servers = results?.servers ?? [];
  return {
    serviceStatus: status,
    repository: results?.repository?.status,
    reachable: servers.filter((server) => server.status === 'ok').length,
    total: servers.length,
    unread: results?.skipped?.reduce((sum, rows) => sum + rows.count, 0),
  };
}

/** ":white_check_mark:" and "completed: 2 of 2 reachable, repository ok". Nothing but that has the sign of success. */
export function outcomeWords(outcome: RunOutcome): { icon: string; words: string } {
  const { serviceStatus = 'completed', repository, reachable = 0, total = 0, unread = 0 } = outcome;
  const servers = total === 0 ? [] : [`${reachable} of ${total} reachable`];
  const ofRepository =
    repository === undefined ? [] : [`repository ${repository === 'ok' ? 'ok' : 'not reachable'}`];
  const unreadable = unread === 0 ? [] : [`${unread} not readable`];
  const results = [...servers, ...ofRepository, ...unreadable];
  if (serviceStatus === 'failed' && results.length === 0)
    return { icon: ':x:', words: 'failed; the service gave no results' };
  const words = `${endWords(serviceStatus)}: ${results.join(', ') || 'no results'}`;
  if (serviceStatus === 'failed') return { icon: ':x:', words };
  const isAllWell = results.length > 0 && repository !== 'error' && reachable === total && unread === 0;
  const isSuccess = serviceStatus === 'completed' && isAllWell;
  return { icon: isSuccess ? ':white_check_mark:' : ':warning:', words };
}

function endWords(serviceStatus: string): string {
  if (serviceStatus === 'completed' || serviceStatus === 'failed') return serviceStatus;
  return `ended, the service says “${statusWord(serviceStatus)}”`;
}

/** The service's own times, milliseconds since the epoch; absent where it gives none. */
export interface ServiceTimes {
  createdAt?: number | undefined;
  completedAt?: number | undefined;
}

export function timesOf(run: Pick<TestRun, 'created_at' | 'completed_at'>): ServiceTimes {
  return {
    createdAt: run.created_at === null ? undefined : Date.parse(run.created_at),
    completedAt: run.completed_at === null ? undefined : Date.parse(run.completed_at),
  };
}

/** How a run that goes on stands: the service's word as it is; mrkdwn. */
export function statusWord(serviceStatus: string | undefined): string {
  return mrkdwn(serviceStatus ?? 'running', 60);
}
