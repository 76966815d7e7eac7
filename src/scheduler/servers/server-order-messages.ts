import { randomUUID } from 'node:crypto';
import type { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import type { ServiceError } from '../../service/errors.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/notify-user.ts';
import { type Explained, failureMessage, failureWords } from '../../views/blocks/failures.ts';
import { type Message, type ModalView, say } from '../../views/blocks/message.ts';
import { notice, withBanner, withFieldErrors } from '../../views/blocks/modal.ts';
import { mrkdwn } from '../../views/blocks/text.ts';
import { confirmServerModal, unknownOutcomeWords } from '../../views/servers/confirm.ts';
import { type Offer, SERVER_ADD_TITLE, serverFormModal, valuesOf } from '../../views/servers/form.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import { explainAndLog } from '../explain.ts';
import type { ServerOrder } from './add-server.ts';

/** What the person who ordered a server reads where it was not, or perhaps not, created. */

/** In the modal; false where it is closed by now. */
export async function showInModal(deckhand: Deckhand, order: ServerOrder, view: ModalView): Promise<boolean> {
  try {
    await deckhand.slack.updateModal(order.workspace, order.viewId, view);
    return true;
  } catch (error) {
    if (isSlackFailure(error)) return false;
    throw error;
  }
}

/** Certainly not created: the form again, with the faults under their fields, or the confirmation with the reason. */
export async function tellRefused(
  deckhand: Deckhand,
  order: ServerOrder,
  error: AccountFailure | UserError,
): Promise<void> {
  const explained = explainFor(deckhand, order, error);
  const cause = error instanceof AccountFailure ? error.cause : undefined;
  const view = cause?.kind === 'invalid' ? await formAgain(deckhand, order, cause) : undefined;
  const shown = view ?? withBanner(confirmAgain(deckhand, order), failureWords(explained));
  if (!(await showInModal(deckhand, order, shown))) await whisper(deckhand, order, failureMessage(explained));
}

/** Said in the modal and beside it, because whoever misses it may order twice. */
export async function tellUnknown(
  deckhand: Deckhand,
  order: ServerOrder,
  why: 'interrupted' | 'no answer',
  error?: AccountFailure,
): Promise<void> {
  const { reference } = error === undefined ? {} : explainFor(deckhand, order, error);
  const text = unknownOutcomeWords(order.draft, why, deckhand.config.SLACK_COMMAND);
  const said = failureWords({ text, reference });
  await whisper(deckhand, order, say(said));
  await showInModal(deckhand, order, notice(SERVER_ADD_TITLE, said));
}

function explainFor(deckhand: Deckhand, order: ServerOrder, error: AccountFailure | UserError): Explained {
  const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
  const { workspace, user, draft } = order;
  return explainAndLog(error, at, deckhand.log, {
    workspace,
    user,
    channel: draft.channel,
    job: 'add-server',
  });
}

function whisper(
  deckhand: Deckhand,
  { workspace, user, draft }: ServerOrder,
  message: Message,
): Promise<void> {
  const { channel, thread: threadTs } = draft;
  return notifyUser(deckhand.slack, workspace, { user, channel, threadTs }, message);
}

function confirmAgain(deckhand: Deckhand, { draft }: ServerOrder): ModalView {
  // Another order: this one is used up.
  return confirmServerModal({ ...draft, order: randomUUID() }, deckhand.config.SERVICE_SITES_DOMAIN);
}

async function formAgain(deckhand: Deckhand, order: ServerOrder, cause: ServiceError): Promise<ModalView> {
  const { draft } = order;
  const { base = [], ...fields } = cause.fields ?? {};
  const view = serverFormModal({
    draft: { ...draft, wanted: undefined, order: randomUUID() },
    values: valuesOf(draft.wanted),
    offer: await offerOf(deckhand, order),
    sitesDomain: deckhand.config.SERVICE_SITES_DOMAIN,
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
async function offerOf(deckhand: Deckhand, { workspace, draft }: ServerOrder): Promise<Offer | undefined> {
  if (draft.protocol === 'static_hosting') return undefined;
  try {
    const account = await deckhand.accounts.resolve(workspace, draft.account, undefined);
    const [regions, sizes] = await Promise.all([
      deckhand.listings.regions(workspace, account),
      deckhand.listings.sizes(workspace, account),
    ]);
    return { regions, sizes };
  } catch (error) {
    if (error instanceof AccountFailure) return undefined;
    throw error;
  }
}
