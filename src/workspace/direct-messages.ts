import { SlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';
import type { Roles } from './roles.ts';

/** Opens direct messages only with people who may use Deckhand. */
export function onlyToMembers(slack: WorkspaceSlack, roles: Pick<Roles, 'excluded'>): WorkspaceSlack {
  async function expectMember(user: string): Promise<void> {
    if ((await roles.excluded(user)) !== undefined)
      throw new SlackFailure('conversations.open', 'gone', 'person_excluded');
  }
  return {
    ...slack,
    async openDirect(user) {
      await expectMember(user);
      return slack.openDirect(user);
    },
    async sendDirectMessage(user, message) {
      await expectMember(user);
      return slack.sendDirectMessage(user, message);
    },
  };
}
