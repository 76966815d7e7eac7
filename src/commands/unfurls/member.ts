import type { Deckhand } from '../../deckhand.ts';
import { isSlackFailure } from '../../slack/failure.ts';

/**
 * True for a person of the workspace, or of the organisation that it stands for: nobody from a shared channel's other
 * side, nobody who left, no application.
 */
export async function isMember(
  { slack, log }: Pick<Deckhand, 'slack' | 'log'>,
  workspace: string,
  user: string,
): Promise<boolean> {
  try {
    const { user: found } = await slack.call(workspace, 'users.info', (client) =>
      client.users.info({ user }),
    );
    if (found === undefined || found.deleted || found.is_bot || found.is_stranger) return false;
    const homes = [found.team_id, found.enterprise_user?.enterprise_id].filter(Boolean);
    return homes.length === 0 || homes.includes(workspace);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.info({ event: 'member_unknown', workspace, user, reason: error.reason }, 'a person is not known');
    return false;
  }
}
