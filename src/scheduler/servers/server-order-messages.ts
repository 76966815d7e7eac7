import { randomUUID } from 'node:crypto';
import type { ServiceError, UserError } from '../../core/errors.ts';
import type { Message, ModalView } from '../../core/message.ts';
import { mrkdwn } from '../../core/mrkdwn.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/notify-user.ts';
import { type Explained, failureMessage, failureWords } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/message.ts';
import { notice, withBanner, withFieldErrors } from '../../views/blocks/modal.ts';
import { saidBesides } from '../../views/blocks/service-failures.ts';
import {
  confirmServerModal,
  handOverModal,
  type Offer,
  SERVER_ADD_TITLE,
  serverFormModal,
  unknownOutcomeWords,
  valuesOf,
} from '../../views/servers/form.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerOrder } from './server-order.ts';

/** In the modal of the order; false where it is closed by now. */
export async function showInModal(
  { slack }: Pick<Workspace, 'slack'>,
  order: ServerOrder,
  view: ModalView,
): Promise<boolean> {
  const sent = slack.updateModal(order.viewId, view).then(() => true);
  return (await undefinedOnSlackError(sent)) ?? false;
}

/**
 * The server was certainly not created: shows the form again, with the faults under their fields, the page of who may
 * enable the beta, or the confirmation with the reason.
 */
export async function notifyRefused(
  workspace: Workspace,
  order: ServerOrder,
  error: AccountFailure | UserError,
): Promise<void> {
  const explained = explainFor(workspace, order, error);
  const cause = error instanceof AccountFailure ? error.cause : undefined;
  const view = cause && (await viewOf(workspace, order, cause));
  // Under a new id: this order is used up.
  const draft = { ...order.draft, order: randomUUID() };
  const form = confirmServerModal(draft, workspace.config.SERVICE_SITES_DOMAIN);
  const sent = view ?? withBanner(form, failureWords(explained));
  if (!(await showInModal(workspace, order, sent))) await notify(workspace, order, failureMessage(explained));
}

/** Undefined where the confirmation has the reason. */
async function viewOf(
  workspace: Workspace,
  order: ServerOrder,
  cause: ServiceError,
): Promise<ModalView | undefined> {
  if (cause.kind === 'invalid') return formAgain(workspace, order, cause);
  return cause.kind === 'admin_required' ? handOverModal(order.draft, cause) : undefined;
}

/** Shown in the modal and beside it, because a person who misses it may order twice. */
export async function notifyUnknown(
  workspace: Workspace,
  order: ServerOrder,
  why: 'interrupted' | 'no answer',
  error?: AccountFailure,
): Promise<void> {
  const { reference } = error === undefined ? {} : explainFor(workspace, order, error);
  const text = unknownOutcomeWords(order.draft, why, workspace.word);
  const reasons = error === undefined ? '' : saidBesides(text, error.cause);
  const said = failureWords({ text: `${text}${reasons}`, reference });
  await notify(workspace, order, say(said));
  await showInModal(workspace, order, notice(SERVER_ADD_TITLE, said));
}

function explainFor(
  { report }: Pick<Workspace, 'report'>,
  { user, draft }: ServerOrder,
  error: AccountFailure | UserError,
): Explained {
  return report(error, { user, channel: draft.channel, job: 'add-server' });
}

function notify(
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
    draft: { ...draft, wanted: undefined, order: randomUUID() },
    values: valuesOf(draft.wanted),
    offer: await offerOf(workspace, order),
    sitesDomain: workspace.config.SERVICE_SITES_DOMAIN,
  });
  const sent = new Set(view.blocks.map((block) => block.block_id));
  const errors: Record<string, string> = {};
  const hint = cause.hint === undefined ? [] : [cause.hint];
  const rest = [...new Set([...base, ...(cause.messages ?? []), ...hint])];
  for (const [field, messages] of Object.entries(fields)) {
    if (sent.has(field)) errors[field] = messages.join('; ');
    else rest.push(`${field.replaceAll('_', ' ')} ${messages.join('; ')}`);
  }
  const marked = withFieldErrors(view, errors);
  if (rest.length === 0 && Object.keys(errors).length > 0) return marked;
  return withBanner(marked, mrkdwn(rest.join('; ') || 'The service did not accept this.', 500));
}

/** What the form offers; undefined where it needs nothing to choose from, or that cannot be read now. */
async function offerOf(
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
