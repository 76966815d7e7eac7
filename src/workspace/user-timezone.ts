import { parseZone } from '../jobs/zone.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

/** The person's IANA zone in Slack; UTC where Slack gives none that is known here. */
export async function zoneOf(
  { slack, log }: { slack: WorkspaceSlack; log: Logger },
  user: string,
): Promise<string> {
  try {
    const answer = await slack.call('users.info', { user });
    return parseZone(answer.user?.tz ?? 'UTC');
  } catch (error) {
    const reason = isSlackFailure(error) ? error.reason : 'unknown zone';
    log.warn({ event: 'zone_unknown', user, reason }, 'a person’s time zone is not known, UTC is used');
    return 'UTC';
  }
}
