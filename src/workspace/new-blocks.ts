import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import type { KnownBlock, Message } from '../core/message.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Send, WorkspaceSlack } from '../slack/slack.ts';
import { StoreUnavailable, type WorkspaceStore } from '../store/store.ts';

/**
 * What Slack introduced lately, and does not take in every workspace; on App Home charts are a matter of their own. A work
 * object is no block, but goes with an unfurl.
 */
export type NewBlock = 'data_visualization' | 'data_table' | 'home_chart' | 'work_object';

/** Which of the new blocks the workspace does not take. */
export type NewBlocks = ReturnType<typeof createNewBlocks>;

const Refused = z.object({ at: z.number() });
/** After this they are tried again: Slack extends them to more workspaces. */
const REMEMBERED_MS = 30 * DAY_MS;

export function createNewBlocks({ store, clock, log }: { store: WorkspaceStore; clock: Clock; log: Logger }) {
  const refused = store.collection('refused-blocks', Refused);

  /** What is not remembered is only tried once more. */
  async function remembering<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof InstallationEnded)) throw error;
      log.warn({ event: 'refused_blocks_unknown', err: error }, 'Which blocks Slack refuses is not known');
      return undefined;
    }
  }

  return {
    areRefused: async (block: NewBlock) => (await remembering(() => refused.get(block))) !== undefined,
    async refuse(block: NewBlock): Promise<void> {
      const at = clock.now();
      await remembering(() => refused.put(block, { at }, at + REMEMBERED_MS));
      log.info({ event: 'blocks_refused', kind: block }, 'Slack does not take a new kind of block here');
    },
  };
}

/** Sends a message; one with new blocks that the workspace refuses is sent with what stands for them. */
export function withFallbacks(slack: WorkspaceSlack, blocks: NewBlocks): WorkspaceSlack {
  async function trying<T>(message: Message, send: (message: Message) => Promise<T>): Promise<T> {
    const block = newBlockIn(message);
    const isRefused = block !== undefined && (await blocks.areRefused(block));
    if (isRefused) return trying(await fallbackOf(message), send);
    try {
      return await send(message);
    } catch (error) {
      const hasFallback = block !== undefined || message.fallback !== undefined;
      if (!hasFallback || !isSlackFailure(error, 'rejected') || error.reason !== 'invalid_blocks')
        throw error;
      const sent = await trying(await fallbackOf(message), send);
      if (block !== undefined) await blocks.refuse(block);
      return sent;
    }
  }

  const respond: WorkspaceSlack['respond'] = async (url, message, ...how) => {
    const block = newBlockIn(message);
    const isRefused = block !== undefined && (await blocks.areRefused(block));
    if (isRefused) return respond(url, await fallbackOf(message), ...how);
    if (await slack.respond(url, message, ...how)) return true;
    if (block === undefined && message.fallback === undefined) return false;
    // A response address does not say whether the blocks were the reason.
    const isTaken = await respond(url, await fallbackOf(message), ...how);
    if (isTaken && block !== undefined) await blocks.refuse(block);
    return isTaken;
  };

  const sending =
    (send: Send): Send =>
    (post, signal) =>
      trying(post.message, (message) => send({ ...post, message }, signal));

  return {
    ...slack,
    withChannelLock: (channel, work) => slack.withChannelLock(channel, (send) => work(sending(send))),
    post: sending(slack.post),
    update: (shown, message, signal) => trying(message, (each) => slack.update(shown, each, signal)),
    refresh: (shown, message) => trying(message, (each) => slack.refresh(shown, each)),
    postEphemeral: (to, message) => trying(message, (each) => slack.postEphemeral(to, each)),
    sendDirectMessage: (user, message) => trying(message, (each) => slack.sendDirectMessage(user, each)),
    respond,
  };
}

function newBlockIn({ blocks }: Message): NewBlock | undefined {
  const types = new Set<string>(blocks.map(({ type }) => type));
  if (types.has('data_visualization')) return 'data_visualization';
  return types.has('data_table') ? 'data_table' : undefined;
}

/** What the message names itself, else the same with a plain table for each data table. */
async function fallbackOf({ text, blocks, fallback }: Message): Promise<Message> {
  if (fallback !== undefined) return fallback();
  return { text, blocks: blocks.filter(({ type }) => type !== 'data_visualization').map(plainTable) };
}

function plainTable(block: KnownBlock): KnownBlock {
  return block.type === 'data_table' ? { type: 'table', rows: block.rows } : block;
}
