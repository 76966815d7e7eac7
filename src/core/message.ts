import type { Block, ModalView as SlackModalView, KnownBlock as TypedBlock } from '@slack/types';
import { z } from 'zod';

export type KnownBlock = TypedBlock | DataVisualizationBlock;

/**
 * A chart that Slack draws, at most two in a message. Slack's own types do not have it yet.
 * @see {@link https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block}
 */
export interface DataVisualizationBlock extends Block {
  type: 'data_visualization';
  /** At most 50 characters, like the labels of the axes. */
  title: string;
  chart: SeriesChart;
}

interface SeriesChart {
  type: 'bar';
  /** At most 6 series with different names of at most 20 characters. Each has a point for every category. */
  series: Array<{ name: string; data: Array<{ label: string; value: number }> }>;
  /** At most 20 categories of 20 characters. */
  axis_config: { categories: string[]; x_label?: string; y_label?: string };
}

/**
 * A message from Deckhand. `text` is its headline, mrkdwn, which `core/message-text.ts` completes from the blocks for
 * notifications and screen readers. `blocks` are for the screen.
 */
export interface Message {
  text: string;
  blocks: KnownBlock[];
  /** True if `text` already says all that the blocks do. Slack never gets this field. */
  isTextWhole?: true;
  /** The same message with other blocks, for workspaces that reject these. Slack never gets this field. */
  fallback?: () => Message;
}

/** A reply for a thread. Its key prevents a second post. */
export interface News {
  key: string;
  message: Message;
}

/** Slack's own type accepts any object as a block; this one accepts known blocks only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };

/** The person and place of a request. */
export interface Invocation {
  /** Empty for workflows and events. */
  user: string;
  /** The person's team. Some calls need it if Deckhand serves a whole organisation. */
  team?: string | undefined;
  /** Undefined on App Home and in workflow steps. */
  channel: string | undefined;
  /** The message of the button, and its thread. */
  messageTs?: string | undefined;
  threadTs?: string | undefined;
  /** Thread for the reply to a mention: its own thread, or a new one below it. */
  answerTs?: string | undefined;
  /** Slack's handle for opening one modal; expires after 3 s. Absent for a stored request. */
  triggerId?: string | undefined;
  responseUrl?: string | undefined;
  /** True if the response address shows "working", which the answer then replaces. */
  isWorkingShown?: boolean;
  /** True if the thread for the answer was deleted. Only the person then gets the answer, outside any thread. */
  isThreadGone?: boolean;
  /** Slack's trigger id, which identifies repeats of the request. */
  requestId: string;
  /** True if the request is stored. It then runs again if the store fails. */
  isStored?: true | undefined;
}

/** Id of a message in its channel: seconds with six decimals. Some of Slack's answers and payloads have it as a number. */
export const SlackTs = z.union([z.string(), z.number().nonnegative().transform(formatTs)]);

export function formatTs(seconds: number): string {
  return seconds.toFixed(6);
}

/** An invocation without Slack's handles, because they are secrets and expire. */
export const StoredInvocation = z.object({
  user: z.string(),
  team: z.string().optional(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  answerTs: z.string().optional(),
  requestId: z.string(),
});

/**
 * One line of the audit log. Default of `what`: the command and the button's verb; of `where`: the
 * invocation's channel.
 */
export interface Change {
  what?: string | undefined;
  /** Public name of the changed thing; never a secret. */
  target?: string | undefined;
  where?: string | undefined;
}

/** A handler's changes, which the pipeline writes into the audit log. */
export interface Audited {
  audit?: Change | readonly Change[] | undefined;
}

/**
 * A change of what is set up in a channel. The pipeline brings the channel's card up to date before the request counts as done, adds
 * a line to the card's thread, and answers the person.
 */
export interface CardReply extends Audited {
  kind: 'card';
  channel: string;
  /** Says who did what. `name`: the same for each attempt. `isForChannel`: the channel gets it too. */
  line: { name: string; message: Message; isForChannel?: boolean };
  answer: Exclude<Reply, { kind: 'card' }>;
  /** True if the change holds although Deckhand cannot post there. */
  isDone?: true | undefined;
  /** Takes the change back if Slack certainly did not take the card. */
  undo?: (() => Promise<unknown>) | undefined;
}

/** A handler's reply. Only the pipeline sends it. */
export type Reply = Audited &
  (
    | CardReply
    | { kind: 'private'; message: Message }
    /** `isDone`: the change has been made. If Deckhand cannot post in the channel, it then tells only the person. */
    | { kind: 'channel'; message: Message; thread?: string; isDone?: true }
    /** Opens the modal at once. The view of `fill` may take longer, and replaces the first one. */
    | { kind: 'modal'; view: ModalView; fill?: () => Promise<ModalView> }
    /** Replaces the message whose button was clicked. */
    | { kind: 'replace'; message: Message }
    | { kind: 'several'; replies: Reply[] }
    /**
     * Runs a command as if the person had typed it. `project` and `server` complete it; `thread` is the
     * thread of a mention. `isAnswer`: the clicked message only asked for this choice, so it is removed
     * afterwards.
     */
    | {
        kind: 'command';
        text: string;
        project?: string;
        server?: string;
        thread?: string | undefined;
        isAnswer?: true;
        /** Other ways to read the line, if the names in this one are unknown. */
        others?: readonly string[];
      }
    /** No reply, because a job that was started sends it. */
    | { kind: 'nothing' }
  );

/** A channel; and its person, if it is a direct message. */
export interface Placed {
  channel?: string | undefined;
  person?: string | undefined;
}

/** True for a direct message with one person, by the id of the conversation or of the person. */
export function isDirect(channel: string | undefined): boolean {
  return channel !== undefined && /^[DUW]/.test(channel);
}

/** Only its own person may read a direct message. @param user undefined if a channel reads it */
export function mayRead(user: string | undefined, { channel, person }: Placed): boolean {
  return !isDirect(channel) || (user !== undefined && person === user);
}
