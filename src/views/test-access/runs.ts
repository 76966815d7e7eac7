import { dateTime } from '../../core/mrkdwn.ts';
import type { Run } from '../../records/test-runs.ts';
import { outcomeWords, statusWord } from './test-run.ts';

/** ":white_check_mark: completed: 6 of 6 reachable, repository ok, today at 9:00"; mrkdwn. */
export function runWords(run: Run): string {
  const { status, serviceStatus } = run;
  const startedAt = run.createdAt ?? run.startedAt;
  if (status === 'running')
    return `:arrows_counterclockwise: ${statusWord(serviceStatus)} since ${dateTime(startedAt)}`;
  return `${endedWords(run)}, ${dateTime(run.completedAt ?? run.endedAt ?? startedAt)}`;
}

function endedWords(run: Run): string {
  const { status, serviceStatus = status } = run;
  if (status === 'stopped') return ':x: stopped';
  if (status === 'lost') return ':grey_question: no longer followed';
  const { icon, words } = outcomeWords({ ...run, serviceStatus });
  return `${icon} ${words}`;
}
