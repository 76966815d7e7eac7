import { dateTime } from '../../core/mrkdwn.ts';
import type { TestTarget } from '../projects/test-button.ts';
import { outcomeWords, type RunOutcome, type ServiceTimes, statusWord } from './test-run.ts';

/** A test run as lists show it; times are milliseconds since the epoch. */
export interface ShownRun extends RunOutcome, ServiceTimes {
  target: TestTarget;
  status: 'running' | 'completed' | 'failed' | 'stopped' | 'lost';
  /** When Deckhand began and ended to follow it. */
  startedAt: number;
  endedAt?: number | undefined;
}

/** ":white_check_mark: completed: 6 of 6 reachable, repository ok, today at 9:00"; mrkdwn. */
export function runWords(run: ShownRun): string {
  const { status, serviceStatus } = run;
  const startedAt = run.createdAt ?? run.startedAt;
  if (status === 'running')
    return `:arrows_counterclockwise: ${statusWord(serviceStatus)} since ${dateTime(startedAt)}`;
  return `${endedWords(run)}, ${dateTime(run.completedAt ?? run.endedAt ?? startedAt)}`;
}

function endedWords(run: ShownRun): string {
  const { status, serviceStatus = status } = run;
  if (status === 'stopped') return ':x: stopped';
  if (status === 'lost') return ':grey_question: no longer followed';
  const { icon, words } = outcomeWords({ ...run, serviceStatus });
  return `${icon} ${words}`;
}
