import { randomUUID } from 'node:crypto';
import type { UserError } from '../../core/errors.ts';
import type { Message, ModalView } from '../../core/message.ts';
import { mrkdwn } from '../../core/mrkdwn.ts';
import type { ServiceError } from '../../service/errors.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/notify-user.ts';
import { type Explained, failureMessage, failureWords } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/message.ts';
import { notice, withBanner, withFieldErrors } from '../../views/blocks/modal.ts';
import { confirmServerModal, unknownOutcomeWords } from '../../views/servers/confirm.ts';
import { type Offer, SERVER_ADD_TITLE, serverFormModal, valuesOf } from '../../views/servers/form.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explainAndLog } from '../explain.ts';
import type { ServerOrder } from './add-server.ts';

/** What the person who ordered a server reads where it was not, or perhaps not, created. */

/** In the modal; false where it is closed by now. */
export async function showInModal(
  workspace: Workspace,
  order: ServerOrder,
  view: ModalView,
): Promise<boolean> {
  try {
    await workspace.slack.updateModal(order.viewId, view);
    return true;
  } catch (error) {
    if (isSlackFailure(error)) return false;
    throw error;
  }
}

/** Certainly not created: the form again, with the faults under their fields, or the confirmation with the reason. */
export async function tellRefused(
  workspace: Workspace,
  order: ServerOrder,
  error: AccountFailure | UserError,
): Promise<void> {
  const explained = explainFor(workspace, order, error);
  const cause = error instanceof AccountFailure ? error.cause : undefined;
  const view = cause?.kind === 'invalid' ? await formAgain(workspace, order, cause) : undefined;
  const shown = view ?? withBanner(confirmAgain(workspace, order), failureWords(explained));
  if (!(await showInModal(workspace, order, shown)))
    await whisper(workspace, order, failureMessage(explained));
}

/** Said in the modal and beside it, because whoever misses it may order twice. */
export async function tellUnknown(
  workspace: Workspace,
  order: ServerOrder,
  why: 'interrupted' | 'no answer',
  error?: AccountFailure,
): Promise<void> {
  const { reference } = error === undefined ? {} : explainFor(workspace, order, error);
  const text = unknownOutcomeWords(order.draft, why, workspace.config.SLACK_COMMAND);
  const said = failureWords({ text, reference });
  await whisper(workspace, order, say(said));
  await showInModal(workspace, order, notice(SERVER_ADD_TITLE, said));
}

function explainFor(workspace: Workspace, order: ServerOrder, error: AccountFailure | UserError): Explained {
  const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
  const { user, draft } = order;
  return explainAndLog(error, at, workspace.log, {
    user,
    channel: draft.channel,
    job: 'add-server',
  });
}

function whisper(workspace: Workspace, { user, draft }: ServerOrder, message: Message): Promise<void> {
  const { channel, thread: threadTs } = draft;
  return notifyUser(workspace.slack, { user, channel, threadTs }, message);
}

function confirmAgain(workspace: Workspace, { draft }: ServerOrder): ModalView {
  // Another order: this one is used up.
  return confirmServerModal({ ...draft, order: randomUUID() }, workspace.config.SERVICE_SITES_DOMAIN);
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
  const shown = new Set(view.blocks.map((block) => block.block_id));
  const errors: Record<string, string> = {};
  const rest = [...new Set([...base, ...(cause.messages ?? [])])];
  for (const [field, messages] of Object.entries(fields)) {
    if (shown.has(field)) errors[field] = messages.join('; ');
    else rest.push(`${field.replaceAll('_', ' ')} ${messages.join('; ')}`);
  }
  const marked = withFieldErrors(view, errors);
  if (rest.length === 0 && Object.keys(errors).length > 0) return marked;
  return withBanner(marked, mrkdwn(rest.join('; ') || cause.hint || 'The service did not accept this.', 500));
}

/** What the form offers; undefined where only the names of what was wanted are needed, or it cannot be read now. */
async function offerOf(workspace: Workspace, { draft }: ServerOrder): Promise<Offer | undefined> {
  if (draft.protocol === 'static_hosting') return undefined;
  try {
    const account = await workspace.accounts.resolve(draft.account, undefined);
    const [regions, sizes] = await Promise.all([
      workspace.hosting.regions(account),
      workspace.hosting.sizes(account),
    ]);
    return { regions, sizes };
  } catch (error) {
    if (error instanceof AccountFailure) return undefined;
    throw error;
  }
}
