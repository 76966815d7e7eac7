import { spellName } from '../core/names.ts';
import { undefinedOnSlackError } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

const PAGE = 200;
/** Larger workspaces need the id, which Slack's composer gives. */
const MAX_PAGES = 10;

/**
 * Finds a channel by its name, among those that Deckhand may list. Undefined if it finds none, or lacks the scope: the person
 * then chooses in a menu.
 */
export async function findChannel(slack: WorkspaceSlack, name: string): Promise<string | undefined> {
  const key = spellName(name.replace(/^#/, ''));
  for (const types of ['public_channel', 'private_channel']) {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const args = { types, limit: PAGE, exclude_archived: true, ...(cursor && { cursor }) };
      const answer = await undefinedOnSlackError(slack.call('conversations.list', args));
      const match = answer?.channels?.find((channel) => spellName(channel.name ?? '') === key);
      if (match?.id !== undefined) return match.id;
      cursor = answer?.response_metadata?.next_cursor;
      if (!cursor) break;
    }
  }
  return undefined;
}
