import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/time/clock.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Send, WorkspaceSlack } from '../slack/slack.ts';
import type { WorkspaceStore } from '../store/store.ts';

/** The id that Slack gave a channel in place of an earlier one. */
export const NewChannelId = z.object({ id: z.string() });

/** Longer than a job waits that names the earlier id. */
export const KEPT_MS = 30 * DAY_MS;
/** Longest chain of ids that is followed. */
const MAX_CHANGES = 5;

export type ChannelIds = ReturnType<typeof createChannelIds>;

/** The ids of channels that got another one, e.g. because a private channel was shared with another company. */
export function createChannelIds({ store, clock }: { store: WorkspaceStore; clock: Clock }) {
  const ids = store.collection('channel-ids', NewChannelId);
  return {
    note: (from: string, to: string) => ids.put(from, { id: to }, clock.now() + KEPT_MS),
    /** The channel's present id; the same if it never changed. */
    async findPresent(channel: string): Promise<string> {
      let present = channel;
      for (let change = 0; change < MAX_CHANGES; change += 1) {
        const next = (await ids.get(present))?.id;
        if (next === undefined || next === channel) break;
        present = next;
      }
      return present;
    },
  };
}

/** How long Slack's event about the new id may come after Slack has forgotten the old one. */
const EVENT_MS = 3_000;

interface Parts {
  ids: ChannelIds;
  clock: Clock;
}

/** Repeats a call with the channel's present id, if Slack does not know the one that was used. */
export function withPresentIds(slack: WorkspaceSlack, { ids, clock }: Parts): WorkspaceSlack {
  async function retry<T>(channel: string, work: (channel: string) => Promise<T>, waitMs = 0): Promise<T> {
    try {
      return await work(channel);
    } catch (error) {
      if (!isSlackFailure(error) || error.reason !== 'channel_not_found') throw error;
      if (waitMs > 0 && (await ids.findPresent(channel)) === channel) await clock.sleep(waitMs);
      const present = await ids.findPresent(channel);
      if (present === channel) throw error;
      return work(present);
    }
  }

  const sending =
    (send: Send, waitMs?: number): Send =>
    (post, signal) =>
      retry(post.channel, (channel) => send({ ...post, channel }, signal), waitMs);

  return {
    ...slack,
    // Nobody waits for these, and a refused one would end what they show.
    withChannelLock: (channel, work) =>
      slack.withChannelLock(channel, (send) => work(sending(send, EVENT_MS))),
    update: (ref, ...more) =>
      retry(ref.channel, (channel) => slack.update({ ...ref, channel }, ...more), EVENT_MS),
    refresh: (ref, message) =>
      retry(ref.channel, (channel) => slack.refresh({ ...ref, channel }, message), EVENT_MS),
    post: sending(slack.post),
    postEphemeral: (to, message) =>
      retry(to.channel, (channel) => slack.postEphemeral({ ...to, channel }, message)),
    upload: (upload) => retry(upload.channel, (channel) => slack.upload({ ...upload, channel })),
    permalink: (ref) => retry(ref.channel, (channel) => slack.permalink({ ...ref, channel })),
  };
}
