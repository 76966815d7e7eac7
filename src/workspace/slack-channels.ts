import { SlackFailure } from '../core/errors.ts';
import { isDirect } from '../core/message.ts';
import { spellName } from '../core/names.ts';
import { type Clock, MINUTE_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
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

/** Cache time: Slack allows about 50 such calls a minute. */
const FRESH_MS = MINUTE_MS;

/** Tells whether people of other organisations read a channel. */
export function createSharedChannels({ slack, clock }: { slack: WorkspaceSlack; clock: Clock }) {
  const shared = new TtlCache<boolean>(clock, FRESH_MS);
  return {
    /** True also if Slack does not say it, for example without the scopes `channels:read` and `groups:read`. */
    async isSharedOutside(channel: string): Promise<boolean> {
      if (isDirect(channel)) return false;
      try {
        return await shared.get([channel], () => requestSharing(slack, channel));
      } catch (error) {
        if (error instanceof SlackFailure) return true;
        throw error;
      }
    },
  };
}

async function requestSharing(slack: WorkspaceSlack, id: string): Promise<boolean> {
  const { channel } = await slack.call('conversations.info', { channel: id });
  return channel === undefined || channel.is_ext_shared === true || channel.is_pending_ext_shared === true;
}
