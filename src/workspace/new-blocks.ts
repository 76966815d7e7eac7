import type { SlackFailure } from '../core/errors.ts';
import type { KnownBlock, Message } from '../core/message.ts';
import { type Clock, DAY_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Send, WorkspaceSlack } from '../slack/slack.ts';
import type { Once } from './once.ts';

/**
 * New features of Slack that some workspaces reject. Charts on App Home count separately. A work object is no
 * block; it is sent with an unfurl.
 */
export type NewBlock = 'data_visualization' | 'data_table' | 'plan' | 'home_chart' | 'work_object';

export type Surface = 'message' | 'home';

/** Names of refused charts. */
const CHART_BLOCKS = { message: 'data_visualization', home: 'home_chart' } as const;

/** The new blocks that the workspace rejects. */
export type NewBlocks = ReturnType<typeof createNewBlocks>;

/** Slack's error words for unknown blocks. For views it says `invalid_arguments`. */
const BLOCKS_WORDS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_arguments']);
/** Deckhand then tries the blocks again, because Slack enables them for more workspaces. */
const REMEMBERED_MS = 30 * DAY_MS;

export function createNewBlocks({ once, wasDone, clock, log }: Once & { clock: Clock; log: Logger }) {
  // Every message with such a block reads this. A refusal in another replica may count some seconds late.
  const answers = new TtlCache<boolean>(clock);

  function areRefused(block: NewBlock): Promise<boolean> {
    return answers.get([block], () => wasDone(['block refused', block]));
  }

  async function refuse(block: NewBlock): Promise<void> {
    await once(['block refused', block], REMEMBERED_MS);
    await answers.renew([block], async () => true);
    log.info({ event: 'blocks_refused', kind: block }, 'Slack refused a new kind of block');
  }

  /** Sends a message, or its fallback if Slack rejects its blocks. */
  async function send<T>(
    message: Message,
    sendOnce: (message: Message) => Promise<T>,
    surface: Surface = 'message',
  ): Promise<T> {
    const block = newBlockIn(message, surface);
    const isRefused = block !== undefined && (await areRefused(block));
    if (isRefused) return send(plainMessage(message), sendOnce, surface);
    try {
      return await sendOnce(message);
    } catch (error) {
      if (block === undefined || !areBlocksRefused(error)) throw error;
      const answer = await send(plainMessage(message), sendOnce, surface);
      await refuse(block);
      return answer;
    }
  }

  return { areRefused, refuse, send };
}

export function withFallbacks(slack: WorkspaceSlack, blocks: NewBlocks): WorkspaceSlack {
  const respond: WorkspaceSlack['respond'] = async (url, message, ...how) => {
    const block = newBlockIn(message);
    const isRefused = block !== undefined && (await blocks.areRefused(block));
    if (isRefused) return respond(url, plainMessage(message), ...how);
    if (await slack.respond(url, message, ...how)) return true;
    if (block === undefined) return false;
    // Slack does not say why a response address rejects a message.
    const isTaken = await respond(url, plainMessage(message), ...how);
    if (isTaken) await blocks.refuse(block);
    return isTaken;
  };

  const sending =
    (send: Send): Send =>
    (post, signal) =>
      blocks.send(post.message, (message) => send({ ...post, message }, signal));

  return {
    ...slack,
    withChannelLock: (channel, work) => slack.withChannelLock(channel, (send) => work(sending(send))),
    post: sending(slack.post),
    update: (messageRef, message, signal) =>
      blocks.send(message, (each) => slack.update(messageRef, each, signal)),
    refresh: (messageRef, message) => blocks.send(message, (each) => slack.refresh(messageRef, each)),
    postEphemeral: (to, message) => blocks.send(message, (each) => slack.postEphemeral(to, each)),
    sendDirectMessage: (user, message) => blocks.send(message, (each) => slack.sendDirectMessage(user, each)),
    respond,
  };
}

function areBlocksRefused(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'rejected') && BLOCKS_WORDS.has(error.reason);
}

function newBlockIn({ blocks }: Message, surface: Surface = 'message'): NewBlock | undefined {
  const types = new Set<string>(blocks.map(({ type }) => type));
  if (types.has('data_visualization')) return CHART_BLOCKS[surface];
  return (['data_table', 'plan'] as const).find((type) => types.has(type));
}

/** The message's own fallback, else blocks that every workspace accepts. */
function plainMessage({ text, blocks, fallback }: Message): Message {
  const plain = blocks.filter(({ type }) => type !== 'data_visualization' && type !== 'plan');
  return fallback?.() ?? { text, blocks: plain.map(plainTable) };
}

function plainTable(block: KnownBlock): KnownBlock {
  return block.type === 'data_table' ? { type: 'table', rows: block.rows } : block;
}
