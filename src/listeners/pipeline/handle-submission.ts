import { z } from 'zod';
import type { Registry } from '../../commands/registry.ts';
import { FormFault, type Submitted, type ViewState } from '../../commands/submission.ts';
import { outdated } from '../../core/errors.ts';
import { defined, hashJson } from '../../core/json.ts';
import type { Invocation } from '../../core/message.ts';
import { DAY_MS, withTimeout } from '../../core/time/clock.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import type { Collection } from '../../store/store.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { workingWords } from '../../views/blocks/make-blocks.ts';
import { isAnyHidden, notice } from '../../views/blocks/modal.ts';
import { keepOpened } from '../../views/blocks/shared-form.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  type FormAck,
  type Inbox,
  inTime,
  pickStoredInvocation,
  type SlackHandles,
  type StoredRequest,
} from '../inbox.ts';
import { followReply, type RequestContext } from './handle-command.ts';
import { findInvalid, handleRequest } from './pipeline.ts';
import {
  explainNotStored,
  MARKS_MS,
  respondFailure,
  respondPrivately,
  showProgress,
  showReplyCard,
  storeAnswerThread,
} from './respond.ts';
import {
  createAck,
  createLateMessage,
  createLateView,
  describeInvalidFields,
  type SubmissionAck,
} from './submission-view.ts';

/** Time after which the modal shows that the work continues. */
const SHOWN_WITHIN_MS = 2_000;
/** Time limit for the ack of a form, for which Slack waits 3 s. */
const ACK_WITHIN_MS = 2_500;

/**
 * Stores a submitted form as a request, and acknowledges it with its outcome if that is ready in time. A second click on
 * the same form gets the outcome of the first; only a form with errors can be sent again.
 */
export async function acknowledgeForm(
  inbox: Pick<Inbox, 'store' | 'refuse'>,
  workspace: Workspace,
  invocation: Invocation,
  state: ViewState,
  ack: (answer: SubmissionAck) => Promise<void>,
): Promise<void> {
  const outcome = Promise.withResolvers<true>();
  const open: FormAck = {
    isOpen: true,
    async answer(submitted) {
      open.isOpen = false;
      await ack(createAck(submitted, state));
      outcome.resolve(true);
    },
  };
  const { clock } = workspace;
  const sentAt = clock.now();
  const leftMs = (limitMs: number): number => Math.max(0, sentAt + limitMs - clock.now());
  let form: Awaited<ReturnType<typeof storeForm>>;
  try {
    form = await inTime(clock, storeRequest(inbox, workspace, invocation, state, open));
    if (form.submitted !== undefined) return open.answer(form.submitted);
  } catch (error) {
    inbox.refuse(invocation.requestId);
    return open.answer({
      kind: 'errors',
      errors: {},
      base: failureWords(explainNotStored(workspace, error)),
    });
  }
  if (await withTimeout(clock, leftMs(SHOWN_WITHIN_MS), outcome.promise)) return;
  // Another replica may have carried it out.
  const reading = readForm(workspace, form.id).catch(() => undefined);
  const { submitted } = (await withTimeout(clock, leftMs(ACK_WITHIN_MS), reading)) ?? {};
  if (!open.isOpen) return;
  if (submitted !== undefined) return open.answer(submitted);
  open.isOpen = false;
  const text = ':hourglass_flowing_sand: One moment, this takes a little longer…';
  await ack({ response_action: 'update', view: notice(state.view.title.text, text) });
}

async function storeRequest(
  inbox: Pick<Inbox, 'store'>,
  workspace: Workspace,
  invocation: Invocation,
  state: ViewState,
  ack: FormAck,
): ReturnType<typeof storeForm> {
  const form = await storeForm(workspace, invocation.requestId, state);
  if (form.submitted !== undefined) return form;
  const { triggerId, responseUrl } = invocation;
  const request: StoredRequest = {
    kind: 'form',
    invocation: { ...pickStoredInvocation(invocation), requestId: form.request },
    form: form.id,
  };
  await inbox.store(workspace, request, { triggerId, responseUrl, acks: [ack] });
  return form;
}

/** A submitted form, with its handler. */
interface SentForm extends RequestContext {
  form: string;
  state: ViewState;
  entry: ReturnType<Registry['submission']>;
}

/**
 * Runs a stored form, and answers by its ack if Slack still waits for it, else in the modal or by a message.
 * @param isResumed true if an earlier attempt may have run it in part
 */
export async function handleSubmission(
  context: RequestContext,
  request: Extract<StoredRequest, { kind: 'form' }>,
  { acks = [] }: SlackHandles,
  isResumed: boolean,
): Promise<void> {
  const { workspace, registry } = context;
  const form = await readForm(workspace, request.form);
  // Another click's job runs it, or it has expired.
  if (form?.request !== request.invocation.requestId) return;
  const { state } = form;
  const entry = registry.submission(state.view.callback_id ?? '');
  const sentForm: SentForm = { ...context, form: request.form, state, entry };
  const endProgress = showWorking(sentForm);
  const submitted = await (async () => form.submitted ?? submitForm(sentForm, isResumed))().finally(
    endProgress,
  );
  const waiting = acks.filter(({ isOpen }) => isOpen);
  await Promise.all(waiting.map((ack) => ack.answer(submitted)));
  const isShown = waiting.length > 0 || (await showLate(sentForm, submitted));
  await finishForm(sentForm, submitted, isShown);
}

/** Runs a form, and stores the outcome before anybody sees it. */
async function submitForm(sentForm: SentForm, isResumed: boolean): Promise<Submitted> {
  const { workspace, state, entry, invocation, form } = sentForm;
  const isCutOff = isResumed && entry?.submission.isOrder === true;
  const submitted = isCutOff ? refuseToRepeat(state) : await carryOutForm(sentForm);
  const outcome =
    submitted.kind === 'view'
      ? { ...submitted, view: storeAnswerThread(submitted.view, invocation.answerTs) }
      : submitted;
  await storeOutcome(workspace, form, outcome, state);
  return outcome;
}

function refuseToRepeat({ view }: ViewState): Submitted {
  const text =
    ':warning: Deckhand was restarted while it carried out this form, so it may or may not be done. Check at the service before you fill it in again.';
  return { kind: 'view', view: notice(view.title.text, text) };
}

function carryOutForm(sentForm: SentForm): Promise<Submitted> {
  const { workspace, invocation, state, entry } = sentForm;
  const submission = entry?.submission;
  return handleRequest<Submitted>({
    kind: 'form',
    workspace,
    invocation,
    command: entry?.command.name,
    what: submission?.callbackId,
    role: submission?.role ?? entry?.command.role,
    actsIn: submission?.actsIn?.(state),
    isChange: true,
    async handle() {
      if (submission === undefined) throw outdated('form');
      const submitted = submission.submit(state, sentForm).then((result) => showFormCard(sentForm, result));
      return submitted.catch((error: unknown) => drawFaults(sentForm, error));
    },
    async explain(error) {
      const invalid = findInvalid(error);
      if (invalid !== undefined) return describeInvalidFields(invalid);
      const explained = sentForm.explain(error, { view: nameView(sentForm) });
      return { kind: 'errors', errors: {}, base: failureWords(explained), lacks: explained.lacks };
    },
  });
}

/** Shows the card of a form's outcome, whose reply then answers the person. */
async function showFormCard(sentForm: SentForm, submitted: Submitted): Promise<Submitted> {
  if (submitted.kind !== 'close' || submitted.card === undefined) return submitted;
  const { audit, ...reply } = await showReplyCard(sentForm, submitted.card);
  return { kind: 'close', audit, ...(reply.kind === 'nothing' ? {} : { after: async () => reply }) };
}

/** @throws errors that are not about the form's fields */
async function drawFaults(sentForm: SentForm, error: unknown): Promise<Submitted> {
  if (!(error instanceof FormFault)) throw error;
  const { state, entry } = sentForm;
  const { errors, base } = error;
  const { draw } = entry?.submission ?? {};
  if (draw !== undefined && isAnyHidden(errors, state.view))
    return { kind: 'view', view: keepOpened(await draw(state, sentForm), state.view) };
  return { kind: 'errors', errors, ...defined({ base }) };
}

/** Name of the form for the log, which holds no text from outside. */
function nameView({ entry }: SentForm): string {
  return entry?.submission.callbackId ?? 'unknown';
}

/** Shows the outcome in the modal. Returns false if it was closed. */
async function showLate({ workspace, state, entry }: SentForm, submitted: Submitted): Promise<boolean> {
  const view = createLateView(state, submitted, entry?.submission);
  const updated = workspace.slack.updateModal(state.view.id, view).then(() => true);
  return (await undefinedOnSlackError(updated)) ?? false;
}

/** Shows in the modal how long the work has taken so far, until the returned function is called. */
function showWorking({ workspace, state }: SentForm): () => Promise<void> {
  const show = async (ms: number): Promise<void> => {
    await workspace.slack.updateModal(state.view.id, notice(state.view.title.text, workingWords(ms)));
  };
  // Before that, the ack is the answer.
  return showProgress(
    workspace,
    show,
    MARKS_MS.filter((mark) => mark > SHOWN_WITHIN_MS),
  );
}

async function finishForm(sentForm: SentForm, submitted: Submitted, isShown: boolean): Promise<void> {
  const { state, workspace, invocation } = sentForm;
  try {
    if (submitted.kind === 'close' && submitted.after !== undefined)
      await followReply(sentForm, await submitted.after());
    else if (!isShown) await respondPrivately(workspace, invocation, createLateMessage(state, submitted));
  } catch (error) {
    await respondFailure(sentForm, error, { view: nameView(sentForm) });
  }
}

/** A submitted form, stored from before its ack until a day later. */
export const StoredForm = z.object({
  /** Slack's id of the click whose job runs the form. */
  request: z.string(),
  /** A form with errors (`faulty`) may be sent again. */
  state: z.enum(['sent', 'done', 'faulty']),
  /** Fields, which may hold keys and passwords; later the outcome in their place. */
  sealed: z.string(),
});
type StoredForm = z.infer<typeof StoredForm>;

/** A form as it was filled in. With the outcome, only the modal's id and title remain. */
interface OpenedForm {
  request: string;
  state: ViewState;
  submitted?: Submitted;
}

/**
 * Stores a form unless the same form is stored already, by an earlier click.
 * @returns the form with the click whose job runs it
 * @throws StoreUnavailable
 */
async function storeForm(
  workspace: Workspace,
  request: string,
  state: ViewState,
): Promise<OpenedForm & { id: string }> {
  const id = formId(state);
  const forms = openForms(workspace);
  const doc: StoredForm = { request, state: 'sent', sealed: await sealForm(workspace, id, state) };
  const isNew = await forms.create(id, doc, workspace.clock.now() + DAY_MS);
  const reopen = (current: StoredForm | undefined): StoredForm =>
    current === undefined || (current.state === 'faulty' && current.request !== request) ? doc : current;
  const storedForm = isNew ? doc : ((await forms.update(id, reopen)) ?? doc);
  return { id, ...(await unsealForm(workspace, id, storedForm)) };
}

/** Returns undefined once the form has expired. */
async function readForm(workspace: Workspace, id: string): Promise<OpenedForm | undefined> {
  const storedForm = await openForms(workspace).get(id);
  return storedForm && unsealForm(workspace, id, storedForm);
}

/** Replaces the fields of a form by its outcome, which answers a later click on the same form. */
async function storeOutcome(
  workspace: Workspace,
  form: string,
  { audit: _, ...submitted }: Submitted,
  { view: { id, title } }: ViewState,
): Promise<void> {
  const sealed = await sealForm(workspace, form, { submitted, id, title });
  const state = submitted.kind === 'errors' ? 'faulty' : 'done';
  await openForms(workspace).update(form, (current) => current && { ...current, sealed, state });
}

function openForms({ store }: Workspace): Collection<StoredForm> {
  return store.collection('forms', StoredForm);
}

function sealForm({ sealer }: Workspace, form: string, value: unknown): Promise<string> {
  return sealer.seal(sealedField(form), JSON.stringify(value));
}

async function unsealForm({ sealer }: Workspace, form: string, storedForm: StoredForm): Promise<OpenedForm> {
  const { request } = storedForm;
  // The seal proves that Deckhand wrote it, so it needs no schema.
  const value: unknown = JSON.parse(await sealer.open(sealedField(form), storedForm.sealed));
  if (storedForm.state === 'sent') return { request, state: value as ViewState };
  const { submitted, ...modal } = value as Required<OpenedForm> & Pick<ViewState['view'], 'id' | 'title'>;
  const view = { type: 'modal' as const, hash: '', private_metadata: '', blocks: [], ...modal };
  return { request, submitted, state: { values: {}, metadata: '', view } };
}

function sealedField(form: string): { record: string; field: string } {
  return { record: `forms/${form}`, field: 'state' };
}

/** Id of a form as it was shown, without its fields: Slack changes the hash with each version. */
function formId({ view, metadata }: ViewState): string {
  return hashJson([view.id, view.hash, view.callback_id, metadata]);
}
