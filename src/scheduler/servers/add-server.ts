import { z } from 'zod';
import { showCard } from '../../cards/card.ts';
import { AccountFailure, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import type { Job } from '../../jobs/jobs.ts';
import { countPossibleDuplicate } from '../../observability/metrics.ts';
import { announcedServer, setAnnounced } from '../../records/feeds.ts';
import { rememberServers } from '../../records/known-servers.ts';
import { createServer } from '../../service/servers.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { provisioningMessage } from '../../views/servers/server.ts';
import { createdNotice } from '../../views/servers/server-modal.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { followServer, type ServerTarget } from './provisioning.ts';
import {
  createOrders,
  findOrdered,
  listNamesakes,
  notifyRefused,
  notifyUnknown,
  type ServerOrder,
  showInModal,
} from './server-order.ts';

/** Delay of the outcome. If it reached Slack before the response to the modal, that response would replace it. */
const HEAD_START_MS = 250;

/** Id of the order. */
export const OrderJob = z.object({ order: z.string() });
type OrderJob = z.infer<typeof OrderJob>;

/** Stores a confirmed order. A confirmation that is sent twice makes one order. */
export async function orderServer(
  workspace: Pick<Workspace, 'jobs' | 'clock' | 'store'>,
  order: ServerOrder,
): Promise<void> {
  const { order: id } = order.draft;
  await createOrders(workspace).create(order);
  await workspace.jobs.send(
    ADD_SERVER,
    { order: id },
    { key: id, at: workspace.clock.now() + HEAD_START_MS },
  );
}

/** Returns undefined if the order is done. */
async function openOrder(workspace: Workspace, data: OrderJob): Promise<ServerOrder | undefined> {
  const order = await createOrders(workspace).get(data.order);
  return order?.isDone === true ? undefined : order;
}

/**
 * Creates the server at the service, at most once, because a second server costs money every month. After a
 * kill, an order without an answer is not sent again; Deckhand looks for its server. Then the channel shows
 * the server.
 */
async function addServer(workspace: Workspace, job: Job<OrderJob>): Promise<void> {
  const opened = await openOrder(workspace, job.data);
  if (opened === undefined) return;
  let order = opened;
  async function save(change: Partial<ServerOrder>): Promise<void> {
    order = { ...order, ...change };
    await createOrders(workspace).put(order);
  }
  if (order.created === undefined) {
    const { isSent } = order;
    if (!isSent) {
      await announceServer(workspace, order, true);
      const servers = await listNamesakes(workspace, order);
      await save({ isSent: true, namesakes: servers?.map(({ identifier }) => identifier) });
    }
    const created = isSent
      ? await findOrNotify(workspace, order, job.signal)
      : await create(workspace, order, job.signal);
    if (created === undefined) return save({ isDone: true });
    await save({ created });
  }
  if (order.created === undefined) return;
  const target = makeTarget(order, order.created);
  const messageRef = order.messageRef ?? (await postRoot(workspace, order, target, job));
  await save({ messageRef: messageRef });
  await followOrder(workspace, order, target, messageRef);
  await save({ isDone: true });
  await showInModal(workspace, order, createdNotice(target.server.name, isInChannel(order, messageRef)));
}

/** Called before the order is sent, because the service's feed may list the server at once. */
function announceServer({ feeds }: Workspace, { draft }: ServerOrder, isAnnounced: boolean): Promise<void> {
  return setAnnounced(
    feeds,
    draft,
    announcedServer(draft.project.permalink, draft.requested.name),
    isAnnounced,
  );
}

/** Returns undefined if the server was not created, or the outcome is unknown. The person is then notified. */
async function create(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
): Promise<ServerOrder['created']> {
  const { draft } = order;
  try {
    const account = await workspace.accounts.resolve({ user: order.user }, draft.account);
    // The job's signal does not end it: a request that is cut off has an unknown outcome.
    const { permalink } = draft.project;
    const { identifier, name } = await workspace.accounts.use(
      account,
      (client) => createServer(client, projectId(draft.project), draft.requested),
      { what: `project ${code(permalink)}`, list: 'projects' },
    );
    await recordOrder(workspace, order, 'done');
    await rememberServers(workspace.store, draft.account, draft.project, [{ identifier, name }]);
    return { identifier, name };
  } catch (error) {
    if (!(error instanceof AccountFailure) && !(error instanceof UserError)) throw error;
    if (error instanceof AccountFailure && !error.cause.certainlyNotDone)
      return findOrNotify(workspace, order, signal, error);
    await recordOrder(workspace, order, 'failed');
    await notifyRefused(workspace, order, error);
    return undefined;
  }
}

/** Handles an order whose answer was lost, by a kill or by `error`. */
async function findOrNotify(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
  error?: AccountFailure,
): Promise<ServerOrder['created']> {
  const { account, project, order: id } = order.draft;
  const fields = { account, project: project.permalink, order: id };
  countPossibleDuplicate(workspace, 'order', fields);
  const server = await findOrdered(workspace, order, signal);
  await recordOrder(workspace, order, server === undefined ? 'failed' : 'done');
  if (server === undefined)
    await notifyUnknown(workspace, order, error === undefined ? 'interrupted' : 'no answer', error);
  return server;
}

async function recordOrder(
  workspace: Workspace,
  order: ServerOrder,
  result: 'done' | 'failed',
): Promise<void> {
  if (result === 'failed') await announceServer(workspace, order, false);
  const { user, draft } = order;
  const { account, project, requested, channel } = draft;
  const target = `${account}/${project.permalink}/${requested.name}`;
  await workspace.audit.record({ requestedBy: user, what: 'server add', where: channel, target, result });
}

function makeTarget(
  { draft }: ServerOrder,
  { identifier, name }: { identifier: string; name: string },
): ServerTarget {
  const { account, project, cost, names } = draft;
  return { account, project, server: { identifier, name: name.slice(0, 200) }, cost, names };
}

/** Posts in the channel, or in a direct message if Slack rejects the post, because the server already exists. */
async function postRoot(
  workspace: Workspace,
  { user, draft, answerTs: threadTs, orderedAt: startedAt }: ServerOrder,
  target: ServerTarget,
  { attempt }: Pick<Job<OrderJob>, 'attempt'>,
): Promise<MessageRef> {
  const state = { kind: 'running' } as const;
  const isAccountShown = await workspace.accounts.hasSeveral();
  return showCard(workspace, {
    id: `order ${draft.order}`,
    channel: draft.channel,
    threadTs,
    ref: undefined,
    root: provisioningMessage({
      target,
      pages: workspace.pages,
      requestedBy: user,
      isAccountShown,
      startedAt,
      now: startedAt,
      state,
    }),
    cause: state.kind,
    ifRefused: 'tell',
    person: user,
    isAwaited: true,
    attempt,
  });
}

async function followOrder(
  workspace: Workspace,
  order: ServerOrder,
  target: ServerTarget,
  messageRef: MessageRef,
): Promise<void> {
  const { user, draft, orderedAt } = order;
  const settings = await workspace.channels.get(draft.channel);
  await followServer(workspace, {
    target,
    requestedBy: user,
    channel: messageRef.channel,
    rootTs: messageRef.ts,
    ...(isInChannel(order, messageRef) ? { threadTs: order.answerTs } : {}),
    startedAt: orderedAt,
    threads: settings.threads ?? true,
  });
}

function isInChannel({ draft }: ServerOrder, messageRef: MessageRef): boolean {
  return messageRef.channel === draft.channel;
}

export const ADD_SERVER: JobDefinition<OrderJob> = defineJob({
  queue: 'add-server',
  schema: OrderJob,
  options: { concurrency: 50, attempts: 5, backoffMs: 1000 },
  handle: addServer,
  // Silence must not look like a successful order.
  async onDeadLetter(workspace, data) {
    const order = await openOrder(workspace, data);
    if (order !== undefined) await notifyUnknown(workspace, order, 'interrupted');
  },
});
