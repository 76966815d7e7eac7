import type { WebAPICallResult, WebClient } from '@slack/web-api';
import type { Clock } from '../core/clock.ts';
import type { Message, ModalView } from '../core/message.ts';
import type { Logger } from '../observability/log.ts';
import { NO_TRACING, type SpanStart, type Tracing } from '../observability/tracing.ts';
import { asSlackFailure, isSlackFailure, SlackFailure } from './failure.ts';
import type { Installations } from './installations.ts';
import {
  BACKGROUND,
  createKeyedQueue,
  LAST_WORDS,
  type RetryPolicy,
  SOMEONE_WAITS,
  withRetries,
} from './rate-limit.ts';
import { postToResponseUrl } from './response-url.ts';
import { type Upload, uploadFile } from './uploads.ts';
import type { Web } from './web.ts';

export interface Post {
  channel: string;
  message: Message;
  threadTs?: string | undefined;
  /**
   * Names this post for ever (a UUID). Slack's errors speak of such a `client_msg_id`; where it is honoured, a
   * repeated post is the same message.
   */
  clientMsgId?: string;
  /** Stores that this post is about to leave: called right before each try, for posts with a `clientMsgId`. */
  intend?: (() => Promise<void>) | undefined;
  /** What the log calls it, if not by its `clientMsgId`. */
  label?: string | undefined;
}

/** A post as it is told of where it is sent again. */
type Repeated = Pick<Post, 'channel' | 'label' | 'clientMsgId'>;

export interface MessageRef {
  channel: string;
  ts: string;
}

export interface SlackOptions {
  web: Web;
  installations: Installations;
  clock: Clock;
  log: Logger;
  /** Hosts that a `response_url` may have, with the port where it is not the scheme's own. */
  responseHosts: readonly string[];
  tracing?: Tracing;
  /** For metrics: each call's method, outcome and duration in milliseconds. */
  observe?: (method: string, outcome: string, ms: number) => void;
  /** Told of each post that is sent again although Slack may have it, because the answer before was lost. */
  onRepeat?: (workspace: string, post: Repeated) => void;
}

/** Posts at once; only for whose turn it is. */
export type Send = (post: Post, signal?: AbortSignal) => Promise<MessageRef>;

/** What Deckhand does in Slack. Every method rejects with `SlackFailure` only. */
export interface Slack {
  /** Any other Web API method, for a person who waits or in the background. */
  call<T extends WebAPICallResult>(
    workspace: string,
    method: string,
    run: (client: WebClient) => Promise<T>,
    patience?: RetryPolicy,
  ): Promise<T>;
  /**
   * Runs `work` when it is its turn to post in the channel, alone: what it stores before and after its posts is never
   * further from them than it must be.
   */
  withChannelLock<T>(workspace: string, channel: string, work: (send: Send) => Promise<T>): Promise<T>;
  /** Posts in the channel's order; background patience. */
  post(workspace: string, post: Post, signal?: AbortSignal): Promise<MessageRef>;
  /** Edits a message. Of several waiting edits of one message only the latest is sent. */
  update(workspace: string, shown: MessageRef, message: Message, signal?: AbortSignal): Promise<void>;
  /** Shown to one person in a channel. */
  postEphemeral(
    workspace: string,
    to: { channel: string; user: string; threadTs?: string | undefined },
    message: Message,
  ): Promise<void>;
  /** The channel of the direct messages with a person. */
  openDirect(workspace: string, user: string): Promise<string>;
  /** A direct message. */
  sendDirectMessage(workspace: string, user: string, message: Message): Promise<MessageRef>;
  openModal(workspace: string, triggerId: string, view: ModalView): Promise<{ id: string; hash: string }>;
  /** Without a hash the view is replaced whatever happened to it in between. */
  updateModal(workspace: string, viewId: string, view: ModalView, hash?: string): Promise<void>;
  /** Answers by a `response_url`; false where its host is not allowed or it is used up. */
  respond(
    url: string,
    message: Message,
    mode: 'ephemeral' | 'in_channel' | 'replace' | 'delete',
  ): Promise<boolean>;
  /**
   * Puts a file up, and into a channel or thread where one is named; otherwise nobody but Deckhand sees it.
   * @returns the file's id, for a `slack_file`
   */
  upload(workspace: string, upload: Upload): Promise<string>;
  permalink(workspace: string, shown: MessageRef): Promise<string | undefined>;
  /** Resolves when nothing waits to be sent. */
  idle(): Promise<void>;
}

/** No link previews, and no names or channels made of plain words in what comes from outside. */
const QUIET = { unfurl_links: false, unfurl_media: false, parse: 'none', link_names: false } as const;

export function createSlack(options: SlackOptions): Slack {
  const { clock, installations, web, tracing = NO_TRACING } = options;
  const { hostname } = new URL(web.origin);
  const lanes = createKeyedQueue();
  const edits = new Map<string, Message>();

  async function once<T extends WebAPICallResult>(
    workspace: string,
    method: string,
    run: (client: WebClient) => Promise<T>,
  ): Promise<T> {
    const token = await installations.token(workspace);
    if (token === undefined) throw new SlackFailure(method, 'revoked', 'not_installed');
    return tracing.run(spanOf(method, hostname), () => observed(method, () => run(web.client(token))));
  }

  async function observed<T>(method: string, run: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const result = await run();
      options.observe?.(method, 'ok', performance.now() - start);
      return result;
    } catch (error) {
      const failure = asSlackFailure(method, error, clock.now());
      const outcome = failure instanceof SlackFailure ? failure.kind : 'bug';
      options.observe?.(method, outcome, performance.now() - start);
      throw failure;
    }
  }

  const call: Slack['call'] = (workspace, method, run, patience = SOMEONE_WAITS) =>
    withRetries(clock, patience, () => once(workspace, method, run));

  /** Tells of each try after one whose answer was lost. */
  function counted<T>(workspace: string, post: Repeated, run: () => Promise<T>): () => Promise<T> {
    let isOpen = false;
    return () => {
      if (isOpen) options.onRepeat?.(workspace, post);
      return run().catch((error: unknown) => {
        isOpen ||= isSlackFailure(error, 'unreachable');
        throw error;
      });
    };
  }

  function turn<T>(workspace: string, channel: string, work: (send: Send) => Promise<T>): Promise<T> {
    const send: Send = async (post, signal) => {
      const { clientMsgId, intend } = post;
      const isIntended = clientMsgId !== undefined && intend !== undefined;
      const forget = isIntended ? web.intents.announce(clientMsgId, intend) : undefined;
      const sent = await withRetries(
        clock,
        BACKGROUND,
        counted(workspace, post, () =>
          once(workspace, 'chat.postMessage', (client) =>
            client.chat.postMessage({ ...QUIET, ...argumentsOf(post) }),
          ),
        ),
        signal,
      ).finally(() => forget?.());
      return { channel: sent.channel ?? post.channel, ts: sent.ts ?? '' };
    };
    return lanes.run(`post ${workspace} ${channel}`, () => work(send));
  }

  /** Sends the latest version that waits; an edit that was overtaken finds nothing left to do. */
  async function sendLatest(
    workspace: string,
    shown: MessageRef,
    key: string,
    signal?: AbortSignal,
  ): Promise<void> {
    let sending: Message | undefined;
    try {
      await withRetries(
        clock,
        BACKGROUND,
        async () => {
          sending = edits.get(key);
          if (sending === undefined) return;
          const message = sending;
          await once(workspace, 'chat.update', (client) => client.chat.update({ ...shown, ...message }));
        },
        signal,
      );
    } finally {
      if (edits.get(key) === sending) edits.delete(key);
    }
  }

  return {
    call,
    withChannelLock: turn,
    post: (workspace, post, signal) => turn(workspace, post.channel, (send) => send(post, signal)),
    update(workspace, shown, message, signal) {
      const key = `edit ${workspace} ${shown.channel} ${shown.ts}`;
      edits.set(key, message);
      return lanes.run(key, () => sendLatest(workspace, shown, key, signal));
    },
    async postEphemeral(workspace, to, message) {
      const { channel, user, threadTs } = to;
      const whisperOnce = () =>
        once(workspace, 'chat.postEphemeral', (client) =>
          client.chat.postEphemeral({
            ...QUIET,
            ...message,
            channel,
            user,
            ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
          }),
        );
      const named = { channel, label: `to ${user}` };
      await withRetries(clock, LAST_WORDS, counted(workspace, named, whisperOnce));
    },
    async openDirect(workspace, user) {
      const opened = await call(
        workspace,
        'conversations.open',
        (client) => client.conversations.open({ users: user }),
        BACKGROUND,
      );
      return opened.channel?.id ?? user;
    },
    async sendDirectMessage(workspace, user, message) {
      return this.post(workspace, { channel: await this.openDirect(workspace, user), message });
    },
    async openModal(workspace, triggerId, view) {
      // A trigger works once, so there is nothing to retry.
      const opened = await once(workspace, 'views.open', (client) =>
        client.views.open({ trigger_id: triggerId, view }),
      );
      return { id: opened.view?.id ?? '', hash: opened.view?.hash ?? '' };
    },
    async updateModal(workspace, viewId, view, hash) {
      await call(workspace, 'views.update', (client) =>
        client.views.update({ view_id: viewId, view, ...(hash === undefined ? {} : { hash }) }),
      );
    },
    respond: (url, message, mode) =>
      // Its host comes with the request, and its path is a secret.
      tracing.run({ name: 'POST response_url', kind: 'client' }, async (span) => {
        const { responseHosts, log } = options;
        const isTaken = await postToResponseUrl(url, message, mode, responseHosts, log);
        if (!isTaken) span.fail('refused');
        return isTaken;
      }),
    upload: (workspace, upload) =>
      tracing.run({ name: 'upload', kind: 'internal' }, () =>
        uploadFile({ call, web, clock }, workspace, upload),
      ),
    async permalink(workspace, shown) {
      const found = await call(workspace, 'chat.getPermalink', (client) =>
        client.chat.getPermalink({ channel: shown.channel, message_ts: shown.ts }),
      );
      return found.permalink;
    },
    idle: () => lanes.idle(),
  };
}

function spanOf(method: string, host: string): SpanStart {
  const attributes = () => ({
    'http.request.method': 'POST',
    'server.address': host,
    'slack.method': method,
  });
  return { name: `POST ${method}`, kind: 'client', attributes };
}

function argumentsOf(post: Post): { channel: string; text: string; blocks: Message['blocks'] } {
  return {
    channel: post.channel,
    ...post.message,
    ...(post.threadTs === undefined ? {} : { thread_ts: post.threadTs }),
    ...(post.clientMsgId === undefined ? {} : { client_msg_id: post.clientMsgId }),
  };
}
