import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AccountFailure, type ServiceError, UserError } from '../../core/errors.ts';
import type { Message, ModalView } from '../../core/message.ts';
import { mrkdwn } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { Draft, RequestedServer } from '../../records/known-servers.ts';
import { listServers, type Server } from '../../service/servers.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/slack.ts';
import { type Explained, failureMessage, failureWords } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { notice, withBanner, withFieldErrors } from '../../views/blocks/modal.ts';
import { addReasons } from '../../views/blocks/service-failures.ts';
import {
  confirmServerModal,
  fillServerForm,
  handOverModal,
  type Offer,
  SERVER_ADD_TITLE,
  serverFormModal,
  unknownOutcomeWords,
} from '../../views/servers/server-modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A confirmed order of a managed server. It is stored so that it is sent once. */
export const ServerOrder = z.object({
  user: z.string(),
  /** The modal with the confirmation. */
  viewId: z.string(),
  draft: Draft.extend({
    project: Draft.shape.project.unwrap(),
    requested: RequestedServer,
    order: z.string(),
  }),
  /** Thread for the reply to a mention. */
  answerTs: z.string().optional(),
  orderedAt: z.number(),
  /** Set before the order is sent. If the process dies after that, the outcome is unknown. */
  isSent: z.boolean(),
  /**
   * Servers that had the same name before the order; any other with it is the ordered one. Unset if the
   * service lists none.
   */
  namesakes: z.array(z.string()).optional(),
  created: z.object({ identifier: z.string(), name: z.string() }).optional(),
  messageRef: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** True once the server is followed, or its person knows why it was not created. */
  isDone: z.boolean().optional(),
});
export interface ServerOrder extends z.infer<typeof ServerOrder> {}

/** Deckhand may repeat a form until then after a kill, and must find its order. */
export const KEPT_MS = 30 * DAY_MS;

export function createOrders({ store }: Pick<Workspace, 'store'>) {
  const collection = store.collection('server-orders', ServerOrder);
  return {
    get: (id: string) => collection.get(id),
    /** Does nothing if the order exists. */
    create: (order: ServerOrder) => collection.create(order.draft.order, order, order.orderedAt + KEPT_MS),
    put: (order: ServerOrder) => collection.put(order.draft.order, order, order.orderedAt + KEPT_MS),
  };
}

/** Number of times to look for the server, because the service may still be creating it. */
const LOOKS = 4;

/**
 * After a lost response, finds the new server by name and type.
 * @returns undefined if that is not certain
 */
export async function findOrdered(
  workspace: Workspace,
  order: ServerOrder,
  signal: AbortSignal,
): Promise<ServerOrder['created']> {
  const { namesakes, draft } = order;
  if (namesakes === undefined) return undefined;
  for (let look = 1; look <= LOOKS; look += 1) {
    if (look > 1) await workspace.clock.sleep(workspace.config.POLL_INTERVAL_MS, signal);
    const servers = await listNamesakes(workspace, order);
    const matches = servers?.filter(
      ({ identifier, protocol_type }) =>
        !namesakes.includes(identifier) && protocol_type === draft.requested.protocol_type,
    );
    const [only, ...others] = matches ?? [];
    if (others.length > 0) return undefined;
    if (only !== undefined) return { identifier: only.identifier, name: only.name };
  }
  return undefined;
}

/** Servers with the name of the ordered one; undefined if the service cannot list them. */
export async function listNamesakes(
  workspace: Workspace,
  { user, draft }: ServerOrder,
): Promise<Server[] | undefined> {
  const { account: name, project, requested } = draft;
  try {
    const account = await workspace.accounts.resolve({ user }, name);
    const servers = await workspace.accounts.use(account, (client) =>
      listServers(client, projectId(project)),
    );
    return servers?.filter((server) => server.name === requested.name);
  } catch (error) {
    // The order itself meets the same failure, and its message explains it.
    if (error instanceof AccountFailure || error instanceof UserError) return undefined;
    throw error;
  }
}

/** Shows a view in the modal of the order; returns false if the person has closed it. */
export async function showInModal(
  { slack }: Pick<Workspace, 'slack'>,
  order: ServerOrder,
  view: ModalView,
): Promise<boolean> {
  const update = slack.updateModal(order.viewId, view).then(() => true);
  return (await undefinedOnSlackError(update)) ?? false;
}

/**
 * Reports a server that was certainly not created. The modal shows the form with errors under their fields,
 * the page about the beta, or the confirmation with the reason.
 */
export async function notifyRefused(
  workspace: Workspace,
  order: ServerOrder,
  error: AccountFailure | UserError,
): Promise<void> {
  const explained = explainFor(workspace, order, error);
  const cause = error instanceof AccountFailure ? error.cause : undefined;
  const view = cause && (await drawRefusal(workspace, order, cause));
  // A new id, because this order is finished.
  const draft = { ...order.draft, order: randomUUID() };
  const form = confirmServerModal(draft, workspace.config.SERVICE_SITES_DOMAIN);
  const page = view ?? withBanner(form, failureWords(explained));
  if (!(await showInModal(workspace, order, page)))
    await notifyOrderer(workspace, order, failureMessage(explained));
}

/** Returns undefined if the confirmation shows the reason itself. */
async function drawRefusal(
  workspace: Workspace,
  order: ServerOrder,
  cause: ServiceError,
): Promise<ModalView | undefined> {
  if (cause.kind === 'invalid') return formAgain(workspace, order, cause);
  return cause.kind === 'admin_required' ? handOverModal(order.draft, cause) : undefined;
}

/** Shown in the modal and in a message, because a person who misses it may order twice. */
export async function notifyUnknown(
  workspace: Workspace,
  order: ServerOrder,
  why: 'interrupted' | 'no answer',
  error?: AccountFailure,
): Promise<void> {
  const { reference } = error === undefined ? {} : explainFor(workspace, order, error);
  const text = unknownOutcomeWords(order.draft, why, workspace.word);
  const reasons = error === undefined ? '' : addReasons(text, error.cause);
  const sentence = failureWords({ text: `${text}${reasons}`, reference });
  await notifyOrderer(workspace, order, say(sentence));
  await showInModal(workspace, order, notice(SERVER_ADD_TITLE, sentence));
}

function explainFor(
  { report }: Pick<Workspace, 'report'>,
  { user, draft }: ServerOrder,
  error: AccountFailure | UserError,
): Explained {
  return report(error, { user, channel: draft.channel, job: 'add-server' });
}

function notifyOrderer(
  { slack }: Pick<Workspace, 'slack'>,
  { user, draft }: ServerOrder,
  message: Message,
): Promise<void> {
  const { channel, thread: threadTs } = draft;
  return notifyUser(slack, { user, channel, threadTs }, message);
}

async function formAgain(workspace: Workspace, order: ServerOrder, cause: ServiceError): Promise<ModalView> {
  const { draft } = order;
  const { base = [], ...fields } = cause.fields ?? {};
  const view = serverFormModal({
    draft: { ...draft, requested: undefined, order: randomUUID() },
    values: fillServerForm(draft.requested),
    offer: await readOffer(workspace, order),
    sitesDomain: workspace.config.SERVICE_SITES_DOMAIN,
  });
  const blockIds = new Set(view.blocks.map((block) => block.block_id));
  const errors: Record<string, string> = {};
  const hint = cause.hint === undefined ? [] : [cause.hint];
  const rest = [...new Set([...base, ...(cause.messages ?? []), ...hint])];
  for (const [field, messages] of Object.entries(fields)) {
    if (blockIds.has(field)) errors[field] = messages.join('; ');
    else rest.push(`${field.replaceAll('_', ' ')} ${messages.join('; ')}`);
  }
  const marked = withFieldErrors(view, errors);
  if (rest.length === 0 && Object.keys(errors).length > 0) return marked;
  return withBanner(marked, mrkdwn(rest.join('; ') || 'The service did not accept this.', 500));
}

/** Choices of the form; undefined if it needs none, or if the service cannot list them now. */
async function readOffer(
  { accounts, hosting }: Pick<Workspace, 'accounts' | 'hosting'>,
  { user, draft }: ServerOrder,
): Promise<Offer | undefined> {
  if (draft.protocol === 'static_hosting') return undefined;
  try {
    const account = await accounts.resolve({ user }, draft.account);
    const [regions, sizes] = await Promise.all([hosting.regions(account), hosting.sizes(account)]);
    return { regions, sizes };
  } catch (error) {
    if (error instanceof AccountFailure) return undefined;
    throw error;
  }
}
