import { bold, code } from '../../core/mrkdwn.ts';
import type { ActivityRange } from '../../service/activity.ts';
import { RANGE_WORDS } from '../activity/ranges.ts';
import { cadenceCommand, cadenceWords, type ShownCadence } from './cadence.ts';

/** What a digest is, as people are shown it. */
export interface ShownDigest {
  id: string;
  channel: string;
  cadence: ShownCadence;
  zone: string;
  range: ActivityRange;
  account?: string | undefined;
  project?: { permalink: string; name: string } | undefined;
  skipQuiet: boolean;
  setUpBy: string;
  /** Milliseconds since the epoch. */
  setUpAt: number;
}

/** "every Monday at 09:00, Europe/Lisbon: the last 7 days of `acme`"; mrkdwn. */
export function digestWords(digest: ShownDigest): string {
  const quiet = digest.skipQuiet ? ', silent without deployments' : '';
  return `${cadenceWords(digest.cadence, digest.zone)}: ${RANGE_WORDS[digest.range].name} of ${coverageWords(digest)}${quiet}`;
}

function coverageWords({ account, project }: ShownDigest): string {
  const of = account === undefined ? 'every connected account' : code(account);
  return project === undefined ? of : `${bold(project.name)} in ${of}`;
}

/** What sets the same digest up again, without the slash word. */
export function digestCommand({ cadence, zone, range, account, project, skipQuiet }: ShownDigest): string {
  const words = ['digest add', cadenceCommand(cadence), zone, range];
  if (account !== undefined) words.push('--account', account);
  if (project !== undefined) words.push('--project', project.permalink);
  if (skipQuiet) words.push('--skip-quiet');
  return words.join(' ');
}
