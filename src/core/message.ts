import type { Block, ModalView as SlackModalView, KnownBlock as TypedBlock } from '@slack/types';
import { z } from 'zod';

export type KnownBlock = TypedBlock | DataVisualizationBlock;

/**
 * A chart that Slack draws itself, two a message; newer than Slack's own types.
 * @see {@link https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block}
 */
export interface DataVisualizationBlock extends Block {
  type: 'data_visualization';
  /** At most 50 characters, as the labels of the axes. */
  title: string;
  chart: SeriesChart;
}

interface SeriesChart {
  type: 'bar';
  /** At most 6 with different names, each with a point for every category; names have at most 20 characters. */
  series: Array<{ name: string; data: Array<{ label: string; value: number }> }>;
  /** At most 20 categories of 20 characters. */
  axis_config: { categories: string[]; x_label?: string; y_label?: string };
}

/** A message of Deckhand: `text` for notifications and screen readers, `blocks` for eyes; always both. */
export interface Message {
  text: string;
  blocks: KnownBlock[];
  /** The same with other blocks, for workspaces that reject these. Never leaves the process. */
  fallback?: () => Message;
}

/** News for a thread. Its key keeps it from being posted twice. */
export interface News {
  key: string;
  message: Message;
}

/** Slack's own type accepts any object as a block; ours accepts known blocks only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };

/** A request's person and place. */
export interface Invocation {
  /** Empty for workflows and events. */
  user: string;
  /** The person's own team. Some calls must name it if Deckhand serves a whole organisation. */
  team?: string | undefined;
  /** Undefined on App Home and in workflow steps. */
  channel: string | undefined;
  /** The message of the button, and its thread. */
  messageTs?: string | undefined;
  threadTs?: string | undefined;
  /** Thread for the answer to a mention: its own thread, or a new one below it. */
  answerTs?: string | undefined;
  /** Slack's handle for opening one modal; expires after 3 s. Absent if a stored request is resumed. */
  triggerId?: string | undefined;
  responseUrl?: string | undefined;
  /** True if the response address shows "working"; the answer then replaces that. */
  isWorkingShown?: boolean;
  /** Slack's trigger id. Recognises a repeat of the request. */
  requestId: string;
  /** The request is stored, and runs again if the store fails. */
  isStored?: true | undefined;
}

/** An invocation without Slack's handles, which are secrets and expire. */
export const StoredInvocation = z.object({
  user: z.string(),
  team: z.string().optional(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  answerTs: z.string().optional(),
  requestId: z.string(),
});

/** One line of the audit log. By default `what` is the command and the button's verb, `where` the invocation's channel. */
export interface Change {
  what?: string | undefined;
  /** Public name of the changed thing; never a secret. */
  target?: string | undefined;
  where?: string | undefined;
}

/** A handler's changes, for the audit log; the pipeline writes them. */
export interface Audited {
  audit?: Change | readonly Change[] | undefined;
}

/** A handler's reply. Only the pipeline sends it. */
export type Reply = Audited &
  (
    | { kind: 'private'; message: Message }
    /** `isDone`: a change that was made. If Deckhand cannot post in the channel, it tells the person alone. */
    | { kind: 'channel'; message: Message; thread?: string; isDone?: true }
    /** Opens at once. `fill` may take longer; its view replaces the first. */
    | { kind: 'modal'; view: ModalView; fill?: () => Promise<ModalView> }
    /** Replaces the message whose button was clicked. */
    | { kind: 'replace'; message: Message }
    | { kind: 'several'; replies: Reply[] }
    /**
     * Runs a command as if the person had typed it. `project` and `server` complete it; `thread` is the thread of a mention.
     * `isAnswer`: the clicked message only asked for this, and is removed afterwards.
     */
    | {
        kind: 'run';
        text: string;
        project?: string;
        server?: string;
        thread?: string | undefined;
        isAnswer?: true;
      }
    /** The job that was started says everything. */
    | { kind: 'nothing' }
  );

/** A thing in a channel, and its person if the channel is a direct message. */
export interface Placed {
  channel?: string | undefined;
  person?: string | undefined;
}

/** True for a direct message with one person, by the id of the conversation or of the person. */
export function isDirect(channel: string | undefined): boolean {
  return channel !== undefined && /^[DUW]/.test(channel);
}

/** Direct messages are shown to their own person only. @param user undefined if a channel reads it */
export function mayRead(user: string | undefined, { channel, person }: Placed): boolean {
  return !isDirect(channel) || (user !== undefined && person === user);
}
