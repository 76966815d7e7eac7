import { dateTime } from '../../core/mrkdwn.ts';
import type { Run } from '../../records/test-runs.ts';
import { UNENDED } from '../blocks/message.ts';
import { outcomeWords, statusWord } from './test-run.ts';

/** ":white_check_mark: completed: 6 of 6 reachable, repository ok, today at 9:00"; mrkdwn. */
export function runWords(run: Run): string {
  const { status, serviceStatus } = run;
  const startedAt = run.createdAt ?? run.startedAt;
  if (status === 'running')
    return `:arrows_counterclockwise: ${statusWord(serviceStatus)} since ${dateTime(startedAt)}`;
  const { icon, words } = endedWords(run);
  return `${icon} ${words}, ${dateTime(run.completedAt ?? run.endedAt ?? startedAt)}`;
}

/** How a run that is no longer followed stands. */
export function endedWords(run: Run): { icon: string; words: string } {
  const { status, serviceStatus = status } = run;
  if (status === 'stopped' || status === 'lost') return UNENDED[status];
  return outcomeWords({ ...run, serviceStatus });
}
