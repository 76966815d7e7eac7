import { isSlackFailure } from '../../slack/failure.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * True for a person of the workspace, or of the organisation that it stands for: nobody from a shared channel's other
 * side, nobody who left, no application.
 */
export async function isMember(
  { id, slack, log }: Pick<Workspace, 'id' | 'slack' | 'log'>,
  user: string,
): Promise<boolean> {
  try {
    const { user: found } = await slack.call('users.info', (client) => client.users.info({ user }));
    if (found === undefined || found.deleted || found.is_bot || found.is_stranger) return false;
    const homes = [found.team_id, found.enterprise_user?.enterprise_id].filter(Boolean);
    return homes.length === 0 || homes.includes(id);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.info({ event: 'member_unknown', user, reason: error.reason }, 'a person is not known');
    return false;
  }
}
