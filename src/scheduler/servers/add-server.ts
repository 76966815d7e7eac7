import { DAY_MS } from '../../core/clock.ts';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Job } from '../../jobs/jobs.ts';
import { countRepeated, countUnanswered } from '../../observability/metrics.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { createServer } from '../../service/servers.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { postId } from '../../slack/web.ts';
import { createdNotice } from '../../views/servers/confirm.ts';
import { provisioningMessage } from '../../views/servers/provisioning.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type ServerTarget, sendToFollow } from './provisioning.ts';
import { findOrdered, namesakesOf, ServerOrder } from './server-order.ts';
import { notifyRefused, notifyUnknown, showInModal } from './server-order-messages.ts';

/** The modal's answer must reach Slack before the outcome, or it would replace it. */
const HEAD_START_MS = 250;

/** A form that was cut off by a kill is carried out again, and so orders again, by when the first order may have ended. */
const KEY_STAYS_MS = 30 * DAY_MS;

/** Stores a confirmed order; the same confirmation sent twice is one order. */
export async function orderServer(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  order: ServerOrder,
): Promise<void> {
  const startAfter = clock.now() + HEAD_START_MS;
  await jobs.send(ADD_SERVER, order, { key: order.draft.order, startAfter });
}

/**
 * Asks the service for the server, at most once: after a kill, an order that was sent but not answered is not sent
 * again, because a second server costs money every month, but looked for. Then it is shown in the channel and followed.
 */
async function addServer(workspace: Workspace, job: Job<ServerOrder>): Promise<void> {
  let order = job.data;
  async function save(change: Partial<ServerOrder>): Promise<void> {
    order = { ...order, ...change };
    await job.save(order);
  }
  if (order.created === undefined) {
    const { asked } = order;
    if (!asked) await save({ asked: true, namesakes: await namesakesOf(workspace, order) });
    const created = asked
      ? await findOrNotify(workspace, order, job.signal)
      : await create(workspace, order, job.signal);
    if (created === undefined) return;
    await save({ created });
  }
  if (order.created === undefined) return;
  const target = targetOf(order, order.created);
  const shown = order.shown ?? (await postRoot(workspace, order, target, save));
  await save({ shown });
  await follow(workspace, order, target, shown);
  await showInModal(workspace, order, createdNotice(target.server.name, isInChannel(order, shown)));
}

/** Undefined where it was not created, or that is not known; the person is notified then. */
async function create(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
): Promise<ServerOrder['created']> {
  const { draft } = order;
  try {
    const account = await workspace.accounts.resolve({ user: order.user }, draft.account);
    // Not ended by the job's signal: a request cut off in the middle has an unknown outcome.
    const { permalink } = draft.project;
    const { identifier, name } = await workspace.accounts.use(
      account,
      (client) => createServer(client, permalink, draft.wanted),
      { what: `project ${code(permalink)}`, list: 'projects' },
    );
    await record(workspace, order, 'done');
    return { identifier, name };
  } catch (error) {
    if (!(error instanceof AccountFailure) && !(error instanceof UserError)) throw error;
    if (error instanceof AccountFailure && !error.cause.certainlyNotDone)
      return findOrNotify(workspace, order, signal, error);
    await record(workspace, order, 'failed');
    await notifyRefused(workspace, order, error);
    return undefined;
  }
}

/** The order was sent, and its answer was lost, to a kill or by `error`. */
async function findOrNotify(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
  error?: AccountFailure,
): Promise<ServerOrder['created']> {
  const { account, project, order: id } = order.draft;
  const fields = { account, project: project.permalink, order: id };
  countUnanswered(workspace, { operation: 'createServer', ...fields });
  const found = await findOrdered(workspace, order, signal);
  await record(workspace, order, found === undefined ? 'failed' : 'done');
  if (found === undefined)
    await notifyUnknown(workspace, order, error === undefined ? 'interrupted' : 'no answer', error);
  return found;
}

function record(
  { audit }: Pick<Workspace, 'audit'>,
  { user, draft }: ServerOrder,
  result: 'done' | 'failed',
): Promise<void> {
  const { account, project, wanted, channel } = draft;
  const target = `${account}/${project.permalink}/${wanted.name}`;
  return audit.record({ who: user, what: 'server add', where: channel, target, result });
}

function targetOf(
  { draft }: ServerOrder,
  { identifier, name }: { identifier: string; name: string },
): ServerTarget {
  const { account, project, cost } = draft;
  return { account, project, server: { identifier, name: name.slice(0, 200) }, cost };
}

/** In the channel; in a direct message where Deckhand may not post there, because the server is created already. */
async function postRoot(
  workspace: Pick<Workspace, 'slack' | 'id' | 'log' | 'metrics'>,
  order: ServerOrder,
  target: ServerTarget,
  save: (change: Partial<ServerOrder>) => Promise<void>,
): Promise<MessageRef> {
  const { user, draft, orderedAt: startedAt } = order;
  const state = { kind: 'running' } as const;
  const { slack, id } = workspace;
  const { channel } = draft;
  const clientMsgId = postId(id, draft.order, 'root');
  const maybeTwice = order.maybeTwice || order.posting || false;
  if (order.posting) countRepeated(workspace, { channel, delivery: clientMsgId });
  const message = provisioningMessage({
    target,
    askedBy: user,
    startedAt,
    now: startedAt,
    maybeTwice,
    state,
  });
  await save({ posting: true, maybeTwice });
  let isRepeated = false;
  const onRepeat = (): void => {
    isRepeated = true;
  };
  try {
    const shown = await slack.post({ channel, threadTs: order.answerTs, message, clientMsgId, onRepeat });
    if (isRepeated) await save({ maybeTwice: true });
    return shown;
  } catch (error) {
    if (isSlackFailure(error) && !error.mayHavePosted) await save({ posting: false });
    if (!isSlackFailure(error, 'gone', 'forbidden')) throw error;
    return slack.sendDirectMessage(user, message);
  }
}

async function follow(
  workspace: Workspace,
  order: ServerOrder,
  target: ServerTarget,
  shown: MessageRef,
): Promise<void> {
  const { user, draft, orderedAt } = order;
  const settings = await workspace.channels.get(draft.channel);
  await sendToFollow(workspace, {
    target,
    askedBy: user,
    maybeTwice: order.maybeTwice,
    channel: shown.channel,
    rootTs: shown.ts,
    ...(isInChannel(order, shown) ? { threadTs: order.answerTs } : {}),
    startedAt: orderedAt,
    threads: settings.threads ?? true,
    told: [],
  });
}

function isInChannel({ draft }: ServerOrder, shown: MessageRef): boolean {
  return shown.channel === draft.channel;
}

export const ADD_SERVER = defineJob({
  queue: 'add-server',
  schema: ServerOrder,
  options: { concurrency: 50, attempts: 5, backoffMs: 1000, keyStaysMs: KEY_STAYS_MS },
  run: addServer,
  // The person who ordered must not take silence for a server.
  onDeadLetter: (workspace, order) => notifyUnknown(workspace, order, 'interrupted'),
});
