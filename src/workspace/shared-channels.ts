import { SlackFailure } from '../core/errors.ts';
import { isDirect } from '../core/message.ts';
import { type Clock, MINUTE_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';

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
