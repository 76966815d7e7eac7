import { dateTime } from '../../core/mrkdwn.ts';
import type { Run } from '../../records/test-runs.ts';
import { UNENDED } from '../blocks/message.ts';
import { outcomeWords, statusWord } from './test-run.ts';

/** ":white_check_mark: all 6 servers are reachable, today at 9:00"; mrkdwn. */
export function runWords(run: Run): string {
  const { began, ended } = timesOfRun(run);
  if (run.status === 'running')
    return `:arrows_counterclockwise: ${statusWord(run.serviceStatus)} since ${dateTime(began)}`;
  const { icon, words } = endedWords(run);
  return `${icon} ${words}, ${dateTime(ended)}`;
}

/** By the service's clock where it gives the time, else by ours. */
export function timesOfRun({ createdAt, startedAt, completedAt, endedAt }: Run): {
  began: number;
  ended: number;
} {
  const began = createdAt ?? startedAt;
  return { began, ended: completedAt ?? endedAt ?? began };
}

/** How a run that is no longer followed stands. */
export function endedWords(run: Run): { icon: string; words: string } {
  const { status, serviceStatus = status } = run;
  if (status === 'stopped' || status === 'lost') return UNENDED[status];
  return outcomeWords({ ...run, serviceStatus }, run.target);
}
