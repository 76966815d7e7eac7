import { parseZone } from '../jobs/zone.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Workspace } from './workspace.ts';

/** The person's IANA zone in Slack; UTC where Slack gives none that is known here. */
export async function zoneOf(
  { slack, log }: Pick<Workspace, 'slack' | 'log'>,
  user: string,
): Promise<string> {
  try {
    const answer = await slack.call('users.info', (client) => client.users.info({ user }));
    return parseZone(answer.user?.tz ?? 'UTC');
  } catch (error) {
    const reason = isSlackFailure(error) ? error.reason : 'unknown zone';
    log.warn({ event: 'zone_unknown', user, reason }, 'a person’s time zone is not known, UTC is used');
    return 'UTC';
  }
}
