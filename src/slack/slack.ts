import { randomUUID } from 'node:crypto';
import { createKeyedLock, type KeyedLock } from '../core/concurrency.ts';
import { SlackFailure } from '../core/errors.ts';
import type { Message, ModalView } from '../core/message.ts';
import { prepareMessage } from '../core/message-text.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { NO_TRACING, type SpanStart, type Tracing } from '../observability/tracing.ts';
import { isSlackFailure, isTokenRefused, mayHavePosted, NOT_INSTALLED, THREAD_GONE } from './failure.ts';
import { createLimits } from './limits.ts';
import {
  BACKGROUND,
  type Call,
  createEditBudget,
  type EditBudget,
  INTERACTIVE_POLICY,
  ONLY_CHANCE,
  withRetries,
} from './rate-limit.ts';
import { type Upload, uploadFile } from './uploads.ts';
import { type AnswerOf, type ArgumentsOf, postToResponseUrl, type ResponseMode, type Web } from './web.ts';

export interface Post {
  channel: string;
  message: Message;
  threadTs?: string | undefined;
  /** True for a reply that the channel gets too. */
  isForChannel?: boolean | undefined;
  /** A UUID by which Slack rejects a repeated post. Default: a new one. */
  clientMsgId?: string;
}

export interface MessageRef {
  channel: string;
  ts: string;
}

/**
 * Posts without waiting for its turn. Call it only within the channel's lock.
 * @throws SlackFailure also if the thread is gone; the channel then does not keep the post
 */
export type Send = (post: Post, signal?: AbortSignal) => Promise<MessageRef>;

export interface SlackOptions {
  web: Web;
  /** Finds the token of a workspace. Undefined if Deckhand is not installed there. */
  installations: { token(workspace: string): Promise<string | undefined> };
  clock: Clock;
  log: Logger;
  /** Allowed hosts of a `response_url`, with any port that is not the scheme's own. */
  responseHosts: readonly string[];
  tracing?: Tracing;
  /** Called for metrics with each call's method, outcome and duration in milliseconds. */
  observe?: (method: string, outcome: string, ms: number) => void;
  /**
   * Called for each post that is sent again although Slack may have it, because Slack's answer was lost.
   * @param delivery its `client_msg_id`, or the person it is for
   */
  onRepeat?: (workspace: string, post: { channel: string; delivery: string }) => void;
}

export type Slack = ReturnType<typeof createSlack>;

/** Slack's Web API for one workspace. Every method rejects with `SlackFailure` only. */
export type WorkspaceSlack = ReturnType<typeof openWorkspaceSlack>;

/** Slack makes no links, mentions or channels of plain words. */
const PLAIN_TEXT = { parse: 'none', link_names: false } as const;
/** A post has no link previews either. */
const PLAIN_POST = { ...PLAIN_TEXT, unfurl_links: false, unfurl_media: false } as const;

const inThread = (ts: string | undefined) => (ts === undefined ? {} : { thread_ts: ts });

/** Shared by all workspaces. */
interface Shared extends SlackOptions {
  tracing: Tracing;
  lock: KeyedLock;
  /** The latest version of each message whose edit waits. */
  edits: Map<string, Message>;
  budget: EditBudget;
  limits: ReturnType<typeof createLimits>;
  /** The latest refusal of each workspace's token. Deleted once a call succeeds. */
  refused: Map<string, { failure: SlackFailure; at: number }>;
}

/** Time from a refusal of a token to the next try. */
const REFUSED_MS = 10_000;

export function createSlack(options: SlackOptions) {
  const budget = createEditBudget(options.clock);
  const limits = createLimits(options);
  const memory = { lock: createKeyedLock(), edits: new Map(), budget, limits, refused: new Map() };
  const shared: Shared = { tracing: NO_TRACING, ...options, ...memory };
  return {
    of: (workspace: string) => openWorkspaceSlack(shared, workspace),
    /** Resolves when nothing waits to be sent. */
    idle: () => shared.lock.idle(),
  };
}

function openWorkspaceSlack(shared: Shared, workspace: string) {
  const { clock, web, tracing, responseHosts, log } = shared;
  const once = createCallOnce(shared, workspace);
  const call: Call = (method, args, policy = INTERACTIVE_POLICY) =>
    withRetries(clock, policy, () => once(method, args));
  return {
    /** Calls any other method of the Web API. */
    call,
    /** Methods that Slack limited in the last ten minutes. */
    listLimits: () => shared.limits.list(workspace),
    /** Tries a token that Slack has refused. @throws SlackFailure while it is refused */
    async expectToken(): Promise<void> {
      const refusal = shared.refused.get(workspace);
      if (refusal === undefined) return;
      if (Math.abs(clock.now() - refusal.at) < REFUSED_MS) throw refusal.failure;
      await once('auth.test', {});
    },
    ...createPosting(shared, workspace, once),
    ...createEditing(shared, workspace, once),
    async openModal(triggerId: string, view: ModalView): Promise<{ id: string; hash: string }> {
      // A trigger works once, so a retry would fail.
      const opened = await once('views.open', { trigger_id: triggerId, view });
      return { id: opened.view?.id ?? '', hash: opened.view?.hash ?? '' };
    },
    /** @param hash refuses the update if the view changed since; overwrites any change if left out */
    async updateModal(viewId: string, view: ModalView, hash?: string): Promise<void> {
      await call('views.update', { view_id: viewId, view, ...(hash === undefined ? {} : { hash }) });
    },
    /** Answers by a `response_url`. Returns false if its host is not allowed or it is used up. */
    respond: (url: string, message: Message, mode: ResponseMode, threadTs?: string): Promise<boolean> =>
      // The span has no address: the path is a secret.
      tracing.trace({ name: 'POST response_url', kind: 'client' }, async (span) => {
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

type CallOnce = <Method extends string>(
  method: Method,
  args: ArgumentsOf<Method>,
) => Promise<AnswerOf<Method>>;

/** Calls without repetition, and remembers whether Slack refuses the workspace's token. */
function createCallOnce(shared: Shared, workspace: string): CallOnce {
  const { installations, web, tracing, observe, refused, clock, log } = shared;
  const send: CallOnce = async (method, args) => {
    const token = await installations.token(workspace);
    if (token === undefined) throw new SlackFailure(method, 'revoked', NOT_INSTALLED);
    return tracing.trace(describeCallSpan(method, web.origin), async () => {
      const start = performance.now();
      const report = (outcome: string): void => observe?.(method, outcome, performance.now() - start);
      try {
        const answer = await web.call(method, args, token);
        report('ok');
        return answer;
      } catch (error) {
        report(error instanceof SlackFailure ? error.kind : 'bug');
        if (isSlackFailure(error, 'busy')) shared.limits.note(workspace, error);
        throw error;
      }
    });
  };
  return async (method, args) => {
    try {
      const answer = await send(method, args);
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

function describeCallSpan(method: string, origin: string): SpanStart {
  const fields = { 'http.request.method': 'POST', 'slack.method': method };
  const attributes = () => ({ ...fields, 'server.address': new URL(origin).hostname });
  return { name: `POST ${method}`, kind: 'client', attributes };
}

function createPosting(shared: Shared, workspace: string, once: CallOnce) {
  const { clock, lock, log } = shared;

  /** Reports repetitions of a post that Slack may have. */
  const reporting = (channel: string, delivery: string) => ({
    onRetry: (failure: SlackFailure): void => {
      if (mayHavePosted(failure)) shared.onRepeat?.(workspace, { channel, delivery });
    },
  });

  const send: Send = async (post, signal) => {
    const { channel, message, threadTs, isForChannel = false, clientMsgId = randomUUID() } = post;
    const thread =
      isForChannel && threadTs !== undefined
        ? ({ thread_ts: threadTs, reply_broadcast: true } as const)
        : inThread(threadTs);
    const text = { ...prepareMessage(message), ...thread, client_msg_id: clientMsgId };
    const sendOnce = () => once('chat.postMessage', { ...PLAIN_POST, channel, ...text });
    const options = { signal, ...reporting(channel, clientMsgId) };
    const answer = await withRetries(clock, BACKGROUND, sendOnce, options);
    const ref = { channel: answer.channel ?? channel, ts: answer.ts ?? '' };
    const isOutside = threadTs !== undefined && answer.message !== undefined && !answer.message.thread_ts;
    if (isOutside) await takeBack(ref);
    return ref;
  };

  /** Deletes a reply that Slack posted at the top level because its thread is gone. @throws SlackFailure */
  async function takeBack(ref: MessageRef): Promise<never> {
    try {
      await withRetries(clock, BACKGROUND, () => once('chat.delete', { ...ref }));
    } catch (error) {
      if (!isSlackFailure(error)) throw error;
      log.warn({ event: 'reply_not_taken_back', ...ref, reason: error.reason }, 'Reply not taken back');
    }
    throw new SlackFailure('chat.postMessage', 'gone', THREAD_GONE);
  }

  const nameLock = (channel: string): string => `post ${workspace} ${channel}`;
  /** Posts as soon as the channel's lock is free, before other waiting work. Waits if Slack is busy. */
  const post: Send = (post, signal) => lock(nameLock(post.channel), () => send(post, signal), true);

  /** Opens the channel for direct messages with a person. */
  async function openDirect(user: string): Promise<string> {
    const open = () => once('conversations.open', { users: user });
    return (await withRetries(clock, BACKGROUND, open)).channel?.id ?? user;
  }

  return {
    /** Runs `work` under the channel's lock, so that no other post comes between its posts. */
    withChannelLock: <T>(channel: string, work: (send: Send) => Promise<T>): Promise<T> =>
      lock(nameLock(channel), () => work(send)),
    post,
    /** Shows a message to one person in a channel. */
    async postEphemeral({ channel, user, threadTs }: Addressee & { channel: string }, message: Message) {
      const args = { ...PLAIN_TEXT, ...prepareMessage(message), channel, user, ...inThread(threadTs) };
      const postOnce = () => once('chat.postEphemeral', args);
      await withRetries(clock, ONLY_CHANCE, postOnce, reporting(channel, `to ${user}`));
    },
    openDirect,
    sendDirectMessage: async (user: string, message: Message): Promise<MessageRef> =>
      post({ channel: await openDirect(user), message }),
  };
}

function createEditing(shared: Shared, workspace: string, once: CallOnce) {
  const { clock, lock, edits, budget } = shared;
  const edit = (messageRef: MessageRef, message: Message) =>
    once('chat.update', { ...PLAIN_TEXT, ...messageRef, ...prepareMessage(message) });

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
    /** Edits a message. Of several waiting edits, only the latest is sent. */
    update(messageRef: MessageRef, message: Message, signal?: AbortSignal): Promise<void> {
      const key = `edit ${workspace} ${messageRef.channel} ${messageRef.ts}`;
      edits.set(key, message);
      return lock(key, () => sendLatest(key, messageRef, signal));
    },
    /** True if Slack's rate has room for an optional edit now. Saves drawing it in vain. */
    mayRefresh: (channel: string): boolean => budget.hasRoom(workspace, channel),
    /** Tries an optional edit once. Returns false if Slack's rate has no room for it. */
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

/** A person, and the place for the answer. */
export interface Addressee {
  user: string;
  channel?: string | undefined;
  threadTs?: string | undefined;
}

/**
 * Shows a message to one person in the channel. If Slack refuses it there by any word, or asks for a long
 * wait, Deckhand sends a direct message instead, which waits for Slack.
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
      if (!isSlackFailure(error, 'gone', 'forbidden', 'busy', 'rejected')) throw error;
    }
  }
  await slack.sendDirectMessage(user, message);
}
