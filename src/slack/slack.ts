import { randomUUID } from 'node:crypto';
import { createKeyedLock, type KeyedLock } from '../core/concurrency.ts';
import type { SlackFailure } from '../core/errors.ts';
import type { Message, ModalView } from '../core/message.ts';
import { disableAutolinks } from '../core/mrkdwn.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import { isSlackFailure, isTokenRefused, mayHavePosted } from './failure.ts';
import {
  BACKGROUND,
  type Call,
  type CallOnce,
  createCallOnce,
  createEditBudget,
  type EditBudget,
  INTERACTIVE_POLICY,
  ONLY_CHANCE,
  withRetries,
} from './rate-limit.ts';
import { type Upload, uploadFile } from './uploads.ts';
import { postToResponseUrl, type ResponseMode, type Web } from './web.ts';

export interface Post {
  channel: string;
  message: Message;
  threadTs?: string | undefined;
  /** A UUID that a repeated post keeps, so that the repeat is Slack's to refuse; one of this post alone if left out. */
  clientMsgId?: string;
}

export interface MessageRef {
  channel: string;
  ts: string;
}

/** Posts at once; only within the channel's lock. */
export type Send = (post: Post, signal?: AbortSignal) => Promise<MessageRef>;

export interface SlackOptions {
  web: Web;
  /** Where the workspaces' tokens come from; undefined where Deckhand is not installed. */
  installations: { token(workspace: string): Promise<string | undefined> };
  clock: Clock;
  log: Logger;
  /** Hosts that a `response_url` may have, with the port where it is not the scheme's own. */
  responseHosts: readonly string[];
  tracing?: Tracing;
  /** For metrics: each call's method, outcome and duration in milliseconds. */
  observe?: (method: string, outcome: string, ms: number) => void;
  /**
   * Called for each post that is sent again although Slack may have it, because the answer before was lost.
   * @param delivery its `client_msg_id`, or for whom it is
   */
  onRepeat?: (workspace: string, post: { channel: string; delivery: string }) => void;
}

export type Slack = ReturnType<typeof createSlack>;

/** What Deckhand does in one Slack workspace. Every method rejects with `SlackFailure` only. */
export type WorkspaceSlack = ReturnType<typeof openWorkspaceSlack>;

/** No links, mentions or channels made of plain words in what comes from outside. */
const PLAIN_TEXT = { parse: 'none', link_names: false } as const;
/** No link previews either, which only a post has. */
const PLAIN_POST = { ...PLAIN_TEXT, unfurl_links: false, unfurl_media: false } as const;

const inThread = (ts: string | undefined) => (ts === undefined ? {} : { thread_ts: ts });

/** What the workspaces share. */
interface Shared extends SlackOptions {
  tracing: Tracing;
  lock: KeyedLock;
  /** The latest version of each message that waits to be edited. */
  edits: Map<string, Message>;
  budget: EditBudget;
  /** The latest refusal of each workspace's token, until a call succeeds. */
  refused: Map<string, { failure: SlackFailure; at: number }>;
}

/** How long a refusal of a token counts before the token is tried again. */
const REFUSED_MS = 10_000;

export function createSlack(options: SlackOptions) {
  const budget = createEditBudget(options.clock);
  const memory = { lock: createKeyedLock(), edits: new Map(), budget, refused: new Map() };
  const shared: Shared = { tracing: NO_TRACING, ...options, ...memory };
  return {
    of: (workspace: string) => openWorkspaceSlack(shared, workspace),
    /** Resolves when nothing waits to be sent. */
    idle: () => shared.lock.idle(),
  };
}

function openWorkspaceSlack(shared: Shared, workspace: string) {
  const { clock, web, tracing, responseHosts, log } = shared;
  const token = () => shared.installations.token(workspace);
  const once = noteRefusals(shared, workspace, createCallOnce({ ...shared, token }));
  const call: Call = (method, args, policy = INTERACTIVE_POLICY) =>
    withRetries(clock, policy, () => once(method, args));
  return {
    /** For all that has no method here. */
    call,
    /** Tries a token that Slack has refused. @throws SlackFailure while it is refused */
    async expectToken(): Promise<void> {
      const known = shared.refused.get(workspace);
      if (known === undefined) return;
      if (Math.abs(clock.now() - known.at) < REFUSED_MS) throw known.failure;
      await once('auth.test', {});
    },
    ...createPosting(shared, workspace, once),
    ...createEditing(shared, workspace, once),
    async openModal(triggerId: string, view: ModalView): Promise<{ id: string; hash: string }> {
      // A trigger works once, so there is nothing to retry.
      const opened = await once('views.open', { trigger_id: triggerId, view });
      return { id: opened.view?.id ?? '', hash: opened.view?.hash ?? '' };
    },
    /** Without a hash the view is replaced whatever happened to it in between. */
    async updateModal(viewId: string, view: ModalView, hash?: string): Promise<void> {
      await call('views.update', { view_id: viewId, view, ...(hash === undefined ? {} : { hash }) });
    },
    /** Answers by a `response_url`; false where its host is not allowed or it is used up. */
    respond: (url: string, message: Message, mode: ResponseMode, threadTs?: string): Promise<boolean> =>
      // Its host comes with the request, and its path is a secret.
      tracing.run({ name: 'POST response_url', kind: 'client' }, async (span) => {
        const answer = { message, mode, threadTs };
        const isTaken = await postToResponseUrl(web.agent, url, answer, responseHosts, log);
        if (!isTaken) span.fail('refused');
        return isTaken;
      }),
    /** Uploads a file into a channel or thread. */
    upload: (upload: Upload): Promise<void> => uploadFile({ call, web, clock }, upload),
    permalink: async ({ channel, ts }: MessageRef) =>
      (await call('chat.getPermalink', { channel, message_ts: ts })).permalink,
  };
}

/** Keeps whether Slack takes the workspace's token, as each call shows it. */
function noteRefusals({ refused, clock, log }: Shared, workspace: string, once: CallOnce): CallOnce {
  return async (method, args) => {
    try {
      const answer = await once(method, args);
      if (refused.delete(workspace))
        log.info({ event: 'workspace_token_accepted', workspace }, 'Slack accepted the token again');
      return answer;
    } catch (error) {
      if (!isTokenRefused(error)) throw error;
      const fields = { event: 'workspace_token_refused', workspace, method, reason: error.reason };
      if (!refused.has(workspace)) log.warn(fields, 'Slack refused the token of a workspace');
      refused.set(workspace, { failure: error, at: clock.now() });
      throw error;
    }
  };
}

function createPosting(shared: Shared, workspace: string, once: CallOnce) {
  const { clock, lock } = shared;

  /** Tells of each repetition of a post that Slack may have. */
  const reporting = (channel: string, delivery: string) => ({
    onRetry: (failure: SlackFailure): void => {
      if (mayHavePosted(failure)) shared.onRepeat?.(workspace, { channel, delivery });
    },
  });

  const send: Send = async ({ channel, message, threadTs, clientMsgId = randomUUID() }, signal) => {
    const text = { ...disableAutolinks(message), ...inThread(threadTs), client_msg_id: clientMsgId };
    const sendOnce = () => once('chat.postMessage', { ...PLAIN_POST, channel, ...text });
    const options = { signal, ...reporting(channel, clientMsgId) };
    const sent = await withRetries(clock, BACKGROUND, sendOnce, options);
    return { channel: sent.channel ?? channel, ts: sent.ts ?? '' };
  };

  const lockOf = (channel: string): string => `post ${workspace} ${channel}`;
  /** Posts in the channel's turn, before what waits for its lock, for people wait for it. Waits for a busy Slack. */
  const post: Send = (post, signal) => lock(lockOf(post.channel), () => send(post, signal), true);

  /** The channel of the direct messages with a person. */
  async function openDirect(user: string): Promise<string> {
    const open = () => once('conversations.open', { users: user });
    return (await withRetries(clock, BACKGROUND, open)).channel?.id ?? user;
  }

  return {
    /** Runs `work` when it is its turn to post in the channel, so that no other post comes between its writes. */
    withChannelLock: <T>(channel: string, work: (send: Send) => Promise<T>): Promise<T> =>
      lock(lockOf(channel), () => work(send)),
    post,
    /** Shown to one person in a channel. */
    async postEphemeral({ channel, user, threadTs }: Addressee & { channel: string }, message: Message) {
      const args = { ...PLAIN_TEXT, ...disableAutolinks(message), channel, user, ...inThread(threadTs) };
      const postOnce = () => once('chat.postEphemeral', args);
      await withRetries(clock, ONLY_CHANCE, postOnce, reporting(channel, `to ${user}`));
    },
    openDirect,
    sendDirectMessage: async (user: string, message: Message): Promise<MessageRef> =>
      post({ channel: await openDirect(user), message }),
  };
}

/** An edit that was overtaken finds nothing left to do. */
function createEditing(shared: Shared, workspace: string, once: CallOnce) {
  const { clock, lock, edits, budget } = shared;
  const edit = (messageRef: MessageRef, message: Message) =>
    once('chat.update', { ...PLAIN_TEXT, ...messageRef, ...disableAutolinks(message) });

  async function sendLatest(key: string, messageRef: MessageRef, signal?: AbortSignal): Promise<void> {
    let sending: Message | undefined;
    const send = async (): Promise<void> => {
      sending = edits.get(key);
      if (sending !== undefined) await edit(messageRef, sending);
    };
    try {
      await withRetries(clock, BACKGROUND, send, { signal });
    } finally {
      if (edits.get(key) === sending) edits.delete(key);
    }
  }

  return {
    /** Edits a message. Of several waiting edits of one message only the latest is sent. */
    update(messageRef: MessageRef, message: Message, signal?: AbortSignal): Promise<void> {
      const key = `edit ${workspace} ${messageRef.channel} ${messageRef.ts}`;
      edits.set(key, message);
      return lock(key, () => sendLatest(key, messageRef, signal));
    },
    /** Whether an edit that may be left out has room now, so that none is drawn in vain. */
    mayRefresh: (channel: string): boolean => budget.hasRoom(workspace, channel),
    /** An edit that may be left out, tried once. False where Slack's rate has no room for it. */
    async refresh(messageRef: MessageRef, message: Message): Promise<boolean> {
      if (!budget.take(workspace, messageRef.channel)) return false;
      try {
        await edit(messageRef, message);
        return true;
      } catch (error) {
        if (!isSlackFailure(error, 'busy', 'unreachable')) throw error;
        budget.pause(workspace, error.retryAt ?? clock.now());
        return false;
      }
    },
  };
}

/** One person, and where they would like to be answered. */
export interface Addressee {
  user: string;
  channel?: string | undefined;
  threadTs?: string | undefined;
}

/**
 * Shows a message to one person where they are; by direct message, which waits for a busy Slack, where Deckhand may
 * not post or Slack asks for too long a wait.
 */
export async function notifyUser(
  slack: WorkspaceSlack,
  { user, channel, threadTs }: Addressee,
  message: Message,
): Promise<void> {
  if (channel !== undefined) {
    try {
      return await slack.postEphemeral({ channel, user, threadTs }, message);
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'forbidden', 'busy')) throw error;
    }
  }
  await slack.sendDirectMessage(user, message);
}
