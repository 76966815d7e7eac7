import type { Message, ModalView } from './message.ts';

/** Where a request comes from. */
export interface Caller {
  user: string;
  /** Undefined on App Home and in workflow steps. */
  channel: string | undefined;
  /** The message a button stands on, and the thread it is in. */
  messageTs?: string | undefined;
  threadTs?: string | undefined;
  /** Slack's single-use handle for opening a modal; dies after 3 s. Absent when a stored request is resumed. */
  triggerId?: string | undefined;
  responseUrl?: string | undefined;
  /** Names this request for ever: Slack's trigger id, so that a replay does nothing twice. */
  requestId: string;
  /** It stands in the queue, and is carried out again where the store failed it. */
  isStored?: true | undefined;
}

/** What a handler wants said; only the front door speaks. */
export type Reply =
  | { kind: 'private'; message: Message }
  | { kind: 'channel'; message: Message; thread?: string }
  /** Opens at once; `fill` may take its time and returns the view that replaces it. */
  | { kind: 'modal'; view: ModalView; fill?: () => Promise<ModalView> }
  /** Replaces the message whose button was clicked. */
  | { kind: 'replace'; message: Message }
  | { kind: 'several'; replies: Reply[] }
  /** As if the person had typed it; `project` fills in for a word left out, `server` for one that fits none. */
  | { kind: 'run'; text: string; project?: string; server?: string }
  /** All is said already, by the job that was started. */
  | { kind: 'nothing' };
