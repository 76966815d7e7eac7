import { bold } from '../../core/mrkdwn.ts';
import { dateTime } from '../blocks/time.ts';

/** A test run as lists show it; times are milliseconds since the epoch. */
export interface ShownRun {
  target: {
    account: string;
    project: { permalink: string; name: string };
    server?: { identifier: string; name: string } | undefined;
  };
  status: 'running' | 'completed' | 'failed' | 'stopped' | 'lost';
  reachable?: number | undefined;
  total?: number | undefined;
  startedAt: number;
  endedAt?: number | undefined;
}

/** ":white_check_mark: completed, 6 of 6 reachable, today at 9:00"; mrkdwn. */
export function runWords(run: ShownRun): string {
  const { status, reachable, total, startedAt, endedAt } = run;
  if (status === 'running') return `:arrows_counterclockwise: running since ${dateTime(startedAt)}`;
  const counts = reachable === undefined || !total ? '' : `, ${reachable} of ${total} reachable`;
  return `${iconOf(run)} ${WORDS[status]}${counts}, ${dateTime(endedAt ?? startedAt)}`;
}

/** "*web-1* in *Storefront*"; mrkdwn. */
export function targetWords({ project, server }: ShownRun['target']): string {
  return server === undefined ? bold(project.name) : `${bold(server.name)} in ${bold(project.name)}`;
}

const WORDS = { completed: 'completed', failed: 'failed', stopped: 'stopped', lost: 'no longer followed' };

function iconOf({ status, reachable, total }: ShownRun): string {
  if (status === 'lost') return ':grey_question:';
  if (status !== 'completed') return ':x:';
  return reachable === total ? ':white_check_mark:' : ':warning:';
}
