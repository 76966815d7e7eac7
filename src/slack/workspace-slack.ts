import type { WebAPICallResult, WebClient } from '@slack/web-api';
import type { Message, ModalView } from '../core/message.ts';
import type { RetryPolicy } from './rate-limit.ts';
import type { MessageRef, Post, Send, Slack } from './slack.ts';
import type { Upload } from './uploads.ts';

/** What Deckhand does in one Slack workspace; each method as in `Slack`. */
export interface WorkspaceSlack {
  call<T extends WebAPICallResult>(
    method: string,
    run: (client: WebClient) => Promise<T>,
    policy?: RetryPolicy,
  ): Promise<T>;
  withChannelLock<T>(channel: string, work: (send: Send) => Promise<T>): Promise<T>;
  post(post: Post, signal?: AbortSignal): Promise<MessageRef>;
  update(shown: MessageRef, message: Message, signal?: AbortSignal): Promise<void>;
  postEphemeral(
    to: { channel: string; user: string; threadTs?: string | undefined },
    message: Message,
  ): Promise<void>;
  openDirect(user: string): Promise<string>;
  sendDirectMessage(user: string, message: Message): Promise<MessageRef>;
  openModal(triggerId: string, view: ModalView): Promise<{ id: string; hash: string }>;
  updateModal(viewId: string, view: ModalView, hash?: string): Promise<void>;
  respond: Slack['respond'];
  upload(upload: Upload): Promise<string>;
  permalink(shown: MessageRef): Promise<string | undefined>;
}

export function bindSlack(slack: Slack, workspace: string): WorkspaceSlack {
  return {
    call: (method, run, policy) => slack.call(workspace, method, run, policy),
    withChannelLock: (channel, work) => slack.withChannelLock(workspace, channel, work),
    post: (post, signal) => slack.post(workspace, post, signal),
    update: (shown, message, signal) => slack.update(workspace, shown, message, signal),
    postEphemeral: (to, message) => slack.postEphemeral(workspace, to, message),
    openDirect: (user) => slack.openDirect(workspace, user),
    sendDirectMessage: (user, message) => slack.sendDirectMessage(workspace, user, message),
    openModal: (triggerId, view) => slack.openModal(workspace, triggerId, view),
    updateModal: (viewId, view, hash) => slack.updateModal(workspace, viewId, view, hash),
    respond: slack.respond,
    upload: (upload) => slack.upload(workspace, upload),
    permalink: (shown) => slack.permalink(workspace, shown),
  };
}
