import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import { createServer } from '../../service/servers.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { code } from '../../views/blocks/text.ts';
import { createdNotice } from '../../views/servers/confirm.ts';
import { Draft, Wanted } from '../../views/servers/form.ts';
import { provisioningMessage } from '../../views/servers/provisioning.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import { postId } from '../post-once.ts';
import { type ServerTarget, sendToFollow } from './provisioning.ts';
import { showInModal, tellRefused, tellUnknown } from './server-order-messages.ts';

export const ADD_SERVER = 'add-server';

/** A confirmed order of a managed server, as its job keeps it. */
export const ServerOrder = z.object({
  workspace: z.string(),
  user: z.string(),
  /** The modal that it was confirmed in. */
  viewId: z.string(),
  draft: Draft.extend({
    project: Draft.shape.project.unwrap(),
    wanted: Wanted,
    order: z.string(),
  }),
  orderedAt: z.number(),
  /** Set before the service is asked: a process that dies from then on leaves the outcome unknown. */
  asked: z.boolean(),
  created: z.object({ identifier: z.string(), name: z.string() }).optional(),
  shown: z.object({ channel: z.string(), ts: z.string() }).optional(),
});
export type ServerOrder = z.infer<typeof ServerOrder>;

/** The modal's answer must reach Slack before what comes of it, or it would stand over it. */
const HEAD_START_MS = 250;

/** Stores a confirmed order; the same confirmation sent twice is one order. */
export async function orderServer(deckhand: Deckhand, order: ServerOrder): Promise<void> {
  const startAfter = deckhand.clock.now() + HEAD_START_MS;
  await deckhand.engine.send(ADD_SERVER, order, { key: order.draft.order, startAfter });
}

/**
 * Asks the service for the server, at most once: an order found asked but unanswered after a kill is not sent again,
 * for a second server costs money every month. Then it is shown in the channel and followed.
 */
export async function addServer(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  let order = ServerOrder.parse(job.data);
  async function save(change: Partial<ServerOrder>): Promise<void> {
    order = { ...order, ...change };
    await job.save(order);
  }
  if (order.created === undefined) {
    if (order.asked) return tellUnknown(deckhand, order, 'interrupted');
    await save({ asked: true });
    const created = await create(deckhand, order);
    if (created === undefined) return;
    await save({ created });
  }
  if (order.created === undefined) return;
  const target = targetOf(order, order.created);
  const shown = order.shown ?? (await postRoot(deckhand, order, target));
  await save({ shown });
  await follow(deckhand, order, target, shown);
  await showInModal(deckhand, order, createdNotice(target.server.name));
}

/** Undefined where it was not created, or nobody knows; the person is told then. */
/** After the last failed attempt: whoever ordered must not take silence for a server. */
export async function orderFailed(deckhand: Deckhand, data: JobData): Promise<void> {
  await tellUnknown(deckhand, ServerOrder.parse(data), 'interrupted');
}

async function create(deckhand: Deckhand, order: ServerOrder): Promise<ServerOrder['created']> {
  const { workspace, draft } = order;
  try {
    const account = await deckhand.accounts.resolve(workspace, draft.account, undefined);
    // Not ended by the job's signal: a request cut off in the middle is an outcome that nobody knows.
    const { permalink } = draft.project;
    const { identifier, name } = await deckhand.accounts.use(
      workspace,
      account,
      (client) => createServer(client, permalink, draft.wanted),
      { what: `project ${code(permalink)}`, list: 'projects' },
    );
    await record(deckhand, order, 'done');
    return { identifier, name };
  } catch (error) {
    if (!(error instanceof AccountFailure) && !(error instanceof UserError)) throw error;
    await record(deckhand, order, 'failed');
    if (error instanceof UserError || error.cause.certainlyNotDone) await tellRefused(deckhand, order, error);
    else await tellUnknown(deckhand, order, 'no answer', error);
    return undefined;
  }
}

function record(
  deckhand: Deckhand,
  { workspace, user, draft }: ServerOrder,
  result: 'done' | 'failed',
): Promise<void> {
  const { account, project, wanted, channel } = draft;
  const target = `${account}/${project.permalink}/${wanted.name}`;
  return deckhand.audit.record(workspace, { who: user, what: 'server add', where: channel, target, result });
}

function targetOf({ draft }: ServerOrder, { identifier, name }: { identifier: string; name: string }) {
  const { account, project, cost } = draft;
  const target: ServerTarget = {
    account,
    project,
    server: { identifier, name: name.slice(0, 200) },
    ...(cost === undefined ? {} : { cost }),
  };
  return target;
}

/** In the channel; with the person alone where Deckhand may not speak there, for the server is made already. */
async function postRoot(deckhand: Deckhand, order: ServerOrder, target: ServerTarget): Promise<MessageRef> {
  const { workspace, user, draft, orderedAt: startedAt } = order;
  const state = { kind: 'running' } as const;
  const message = provisioningMessage({ target, askedBy: user, startedAt, now: startedAt, state });
  const clientMsgId = postId(workspace, draft.order, 'root');
  try {
    return await deckhand.slack.post(workspace, { channel: draft.channel, message, clientMsgId });
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'forbidden')) throw error;
    return deckhand.slack.sendDirectMessage(workspace, user, message);
  }
}

async function follow(
  deckhand: Deckhand,
  { workspace, user, draft, orderedAt }: ServerOrder,
  target: ServerTarget,
  shown: MessageRef,
): Promise<void> {
  const settings = await deckhand.channels.get(workspace, draft.channel);
  await sendToFollow(deckhand, {
    workspace,
    target,
    askedBy: user,
    channel: shown.channel,
    rootTs: shown.ts,
    startedAt: orderedAt,
    threads: settings.threads ?? true,
    told: [],
  });
}
