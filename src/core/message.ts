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

/** What Deckhand says: `text` for notifications and screen readers, `blocks` for eyes; always both. */
export interface Message {
  text: string;
  blocks: KnownBlock[];
  /** The same with other blocks, for a workspace that does not take these. Never leaves the process. */
  fallback?: () => Message;
}

/** A piece of news for a thread; the key identifies it, so that it is never posted twice. */
export interface News {
  key: string;
  message: Message;
}

/** Slack's own type takes any object for a block; ours takes the known ones only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };

/** Where a request comes from. */
export interface Caller {
  /** Empty where a workflow or an event asks. */
  user: string;
  /** The person's own team, which some calls have to name where Deckhand serves a whole organisation. */
  team?: string | undefined;
  /** Undefined on App Home and in workflow steps. */
  channel: string | undefined;
  /** The message a button stands on, and the thread it is in. */
  messageTs?: string | undefined;
  threadTs?: string | undefined;
  /** Where a mention is answered: the thread that it stands in, or that it begins. */
  answerTs?: string | undefined;
  /** Slack's single-use handle for opening a modal; expires after 3 s. Absent when a stored request is resumed. */
  triggerId?: string | undefined;
  responseUrl?: string | undefined;
  /** A command's response address shows that the work continues: the answer takes the place of that. */
  isWorkingShown?: boolean;
  /** Identifies this request permanently: Slack's trigger id, so that a replay does nothing twice. */
  requestId: string;
  /** The request is stored, and is carried out again where the store fails it. */
  isStored?: true | undefined;
}

/** The caller of a request that is stored, without Slack's handles: they are secrets, and expire. */
export const StoredCaller = z.object({
  user: z.string(),
  team: z.string().optional(),
  channel: z.string().optional(),
  messageTs: z.string().optional(),
  threadTs: z.string().optional(),
  answerTs: z.string().optional(),
  requestId: z.string(),
});

/** One line of the audit log. Left out, `what` is the command and the button's verb, `where` the caller's channel. */
export interface Change {
  what?: string | undefined;
  /** The public name of what was changed; never a secret. */
  target?: string | undefined;
  where?: string | undefined;
}

/** What a handler changed, if it changed anything; the pipeline writes it to the audit log. */
export interface Audited {
  audit?: Change | readonly Change[] | undefined;
}

/** What a handler wants said; only the pipeline speaks. */
export type Reply = Audited &
  (
    | { kind: 'private'; message: Message }
    /** `isDone`: it tells of a change that holds although the channel cannot be posted in; then only the person is told. */
    | { kind: 'channel'; message: Message; thread?: string; isDone?: true }
    /** Opens at once; `fill` may take longer and returns the view that replaces it. */
    | { kind: 'modal'; view: ModalView; fill?: () => Promise<ModalView> }
    /** Replaces the message whose button was clicked. */
    | { kind: 'replace'; message: Message }
    | { kind: 'several'; replies: Reply[] }
    /**
     * As if the person had typed it; `project` fills in for a word left out, `server` for one that fits none; `thread` is
     * that of a mention. `isAnswer`: the message that was clicked only asked for this, and goes away once it is carried out.
     */
    | {
        kind: 'run';
        text: string;
        project?: string;
        server?: string;
        thread?: string | undefined;
        isAnswer?: true;
      }
    /** All is said already, by the job that was started. */
    | { kind: 'nothing' }
  );

/** Something in a channel, and the person whose own it is if the channel is a direct message. */
export interface Placed {
  channel?: string | undefined;
  person?: string | undefined;
}

/** True for a direct message with one person, by its own id or the person's. */
export function isDirect(channel: string | undefined): boolean {
  return channel !== undefined && /^[DUW]/.test(channel);
}

/** Direct messages are shown to their own person alone. @param user undefined: a channel reads it */
export function mayRead(user: string | undefined, { channel, person }: Placed): boolean {
  return !isDirect(channel) || (user !== undefined && person === user);
}
