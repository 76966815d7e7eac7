import { hash } from 'node:crypto';
import { z } from 'zod';
import { type CommandContext, FormFault, type Submitted, type ViewState } from '../../commands/command.ts';
import { createContext } from '../../commands/resolve-target.ts';
import { DAY_MS, withTimeout } from '../../core/clock.ts';
import { outdated } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Caller } from '../../core/reply.ts';
import { RecentMap } from '../../core/ttl-cache.ts';
import { countPossibleDuplicate } from '../../observability/metrics.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import type { Collection } from '../../store/store.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { workingWords } from '../../views/blocks/message.ts';
import { isAnyHidden, notice } from '../../views/blocks/modal.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { StoredCaller, storedCaller } from '../inbox.ts';
import type { Registry } from '../registry.ts';
import { carryOut, invalidIn } from './pipeline.ts';
import {
  answeredIn,
  explainNotStored,
  MARKS_MS,
  respondFailure,
  respondPrivately,
  showProgress,
} from './respond.ts';
import { follow } from './run-command.ts';
import { ackOf, invalidFields, lateMessage, lateView, type SubmissionAck } from './submission-view.ts';

/** Slack waits 3 s for the answer to a submission; after this the modal shows that the work continues. */
const ACK_WITHIN_MS = 2_000;
/** More are waiting in this process only in a flood, and are answered late. */
const MAX_WAITING = 2_000;

type Ack = (answer: SubmissionAck) => Promise<void>;

/** A form that was sent: enough to carry it out and to answer. */
interface Sent {
  registry: Registry;
  workspace: Workspace;
  caller: Caller;
  context: CommandContext;
  state: ViewState;
  found: ReturnType<Registry['submission']>;
}

/** A form whose ack this process still has to give. */
interface Waiting {
  caller: Caller;
  submitted: PromiseWithResolvers<Submitted>;
  /** True where the ack was the outcome itself. */
  answered: PromiseWithResolvers<boolean>;
}

/**
 * Carries out submitted modals, each once, as jobs that were stored before the ack. A second click on the same form gets
 * the first one's answer; only a form that came back with errors may be sent again.
 */
export function createSubmissions(registry: Registry) {
  /** By form. */
  const waiting = new RecentMap<string, Waiting>(MAX_WAITING);
  const job = defineJob({
    ...FORM,
    options: { concurrency: 200, attempts: 3, backoffMs: 1000 },
    async run(workspace, { data, attempt }) {
      const known = waiting.get(data.form);
      const form = await formOf(workspace, data);
      if (form === undefined) return;
      const caller = known?.caller ?? { channel: undefined, ...data.caller };
      if (attempt > 1)
        countPossibleDuplicate(workspace, 'post', { channel: caller.channel, delivery: caller.requestId });
      const sent = sentOf(registry, workspace, caller, form.state);
      const outcome = (async () => form.submitted ?? submit(sent, data.form, attempt > 1))();
      await answerLate(sent, outcome, known);
      if (waiting.get(data.form) === known) waiting.delete(data.form);
    },
    onDeadLetter: (workspace, { caller }, error) =>
      respondFailure(createContext(workspace, { channel: undefined, ...caller }), error),
  });

  /** Its job may begin at once, so what waits for it is known before. */
  async function store(workspace: Workspace, caller: Caller, state: ViewState): Promise<Waiting> {
    const { request, submitted } = await storeForm(workspace, caller, state);
    const known = waiting.get(formId(state));
    const mine: Waiting =
      known !== undefined && request !== caller.requestId
        ? known
        : { caller, submitted: Promise.withResolvers(), answered: Promise.withResolvers() };
    if (submitted !== undefined) {
      mine.submitted.resolve(submitted);
      return mine;
    }
    waiting.set(formId(state), mine);
    await sendForm(workspace, caller, state, request);
    return mine;
  }

  return {
    /** Stores a form, and answers it with what comes of it within the time that Slack gives. */
    async take(workspace: Workspace, caller: Caller, state: ViewState, ack: Ack): Promise<void> {
      let mine: Waiting;
      try {
        mine = await store(workspace, caller, state);
      } catch (error) {
        const base = failureWords(explainNotStored(workspace, error));
        return ack(ackOf({ kind: 'errors', errors: {}, base }, state));
      }
      const inTime = await withTimeout(workspace.clock, ACK_WITHIN_MS, mine.submitted.promise);
      // Another replica may have carried it out.
      const submitted = inTime ?? (await outcomeOf(workspace, state));
      let isAnswered = false;
      try {
        await ack(answerTo(submitted, state));
        isAnswered = submitted !== undefined;
      } finally {
        mine.answered.resolve(isAnswered);
      }
    },
    job,
  };
}

function sentOf(registry: Registry, workspace: Workspace, caller: Caller, state: ViewState): Sent {
  const found = registry.submission(state.view.callback_id ?? '');
  return { registry, workspace, caller, context: createContext(workspace, caller), state, found };
}

/** Answers a form by its ack where that is still open, else in the modal or by a message. */
async function answerLate(
  sent: Sent,
  outcome: Promise<Submitted>,
  known: Waiting | undefined,
): Promise<void> {
  // Where it fails it is tried again, as long as somebody waits or not.
  outcome.then(known?.submitted.resolve, () => undefined);
  const isShown = (await known?.answered.promise) || (await showLate(sent, outcome));
  await finish(sent, await outcome, isShown);
}

/** Carries out a form, and stores what came of it before anybody is told. */
async function submit(sent: Sent, form: string, isResumed: boolean): Promise<Submitted> {
  const { workspace, state, found, caller } = sent;
  const isCutOff = isResumed && found?.submission.isOrder === true;
  const submitted = isCutOff ? cutOff(state) : await carryOutForm(sent);
  const answered =
    submitted.kind === 'view'
      ? { ...submitted, view: answeredIn(submitted.view, caller.answerTs) }
      : submitted;
  await storeOutcome(workspace, form, answered, state);
  return answered;
}

function cutOff({ view }: ViewState): Submitted {
  const said =
    ':warning: Deckhand was restarted while it carried out this form, so it may or may not be done. Check at the service before you fill it in again.';
  return { kind: 'view', view: notice(view.title.text, said) };
}

/** Errors that come in time stand under their fields; what takes longer first shows that the work continues. */
function answerTo(submitted: Submitted | undefined, state: ViewState): SubmissionAck {
  if (submitted !== undefined) return ackOf(submitted, state);
  const said = ':hourglass_flowing_sand: One moment, this takes a little longer…';
  return { response_action: 'update', view: notice(state.view.title.text, said) };
}

function carryOutForm(sent: Sent): Promise<Submitted> {
  const { workspace, caller, context, state, found } = sent;
  const submission = found?.submission;
  return carryOut<Submitted>({
    kind: 'form',
    workspace,
    caller,
    command: found?.command.name,
    what: submission?.callbackId,
    role: submission?.role ?? found?.command.role,
    actsIn: submission?.actsIn?.(state),
    isChange: true,
    async run() {
      if (submission === undefined) throw outdated('form');
      return submission.submit(state, context).catch((error: unknown) => faulty(sent, error));
    },
    async explain(error) {
      const invalid = invalidIn(error);
      if (invalid !== undefined) return invalidFields(invalid);
      const explained = context.explain(error, { view: viewOf(sent) });
      return { kind: 'errors', errors: {}, base: failureWords(explained), lacks: explained.lacks };
    },
  });
}

/** @throws what is no fault of the form */
async function faulty({ state, context, found }: Sent, error: unknown): Promise<Submitted> {
  if (!(error instanceof FormFault)) throw error;
  const { errors, base } = error;
  const { draw } = found?.submission ?? {};
  if (draw !== undefined && isAnyHidden(errors, state.view))
    return { kind: 'view', view: await draw(state, context) };
  return { kind: 'errors', errors, ...defined({ base }) };
}

/** For the log, which takes no word that came in. */
function viewOf({ found }: Sent): string {
  return found?.submission.callbackId ?? 'unknown';
}

/** False where the modal is no longer there. */
async function showLate(sent: Sent, outcome: Promise<Submitted>): Promise<boolean> {
  const { workspace, state, found } = sent;
  const submitted = await outcome.finally(showWorking(sent));
  const view = lateView(state, submitted, found?.submission);
  const updated = workspace.slack.updateModal(state.view.id, view).then(() => true);
  return (await undefinedOnSlackError(updated)) ?? false;
}

/** For how long the work has continued, in the modal, until what this returns is called. */
function showWorking({ workspace, state }: Sent): () => Promise<void> {
  const left = MARKS_MS.filter((mark) => mark > ACK_WITHIN_MS).map((mark) => mark - ACK_WITHIN_MS);
  const show = async (ms: number): Promise<void> => {
    const view = notice(state.view.title.text, workingWords(ms + ACK_WITHIN_MS));
    await workspace.slack.updateModal(state.view.id, view);
  };
  return showProgress(workspace, show, left);
}

async function finish(sent: Sent, submitted: Submitted, isShown: boolean): Promise<void> {
  const { context, state, workspace, caller } = sent;
  try {
    if (submitted.kind === 'close' && submitted.after !== undefined)
      await follow(sent, await submitted.after());
    else if (!isShown) await respondPrivately(workspace, caller, lateMessage(state, submitted));
  } catch (error) {
    await respondFailure(context, error, { view: viewOf(sent) });
  }
}

/** A form, from before its ack until a day after it was carried out. */
const StoredForm = z.object({
  /** Slack's id of the click that has it carried out. */
  request: z.string(),
  /** One that came back with faults may be sent again. */
  state: z.enum(['sent', 'done', 'faulty']),
  /** What was filled in, which may hold keys and passwords; once it was carried out, what came of it. */
  sealed: z.string(),
});
type StoredForm = z.infer<typeof StoredForm>;

/** Has a form carried out. */
const FormJob = z.object({
  caller: StoredCaller,
  /** Names the form as it was shown. */
  form: z.string(),
  /** Release 0.2.0 kept the form in its job, and said there whether it was done. */
  sealed: z.string().optional(),
  isDone: z.boolean().optional(),
});
type FormJob = z.infer<typeof FormJob>;
const FORM = { queue: 'forms', schema: FormJob };

const KEPT_MS = DAY_MS;

/** A form as it was filled in; or what came of it, and then only the modal's id and title are left. */
interface KnownForm {
  state: ViewState;
  submitted?: Submitted;
}

/**
 * Stores a form that was sent, unless it was sent before.
 * @returns the click that has it carried out, and what came of it, if it was
 * @throws StoreUnavailable where it was not stored
 */
async function storeForm(
  workspace: Workspace,
  { requestId: request }: Caller,
  state: ViewState,
): Promise<{ request: string; submitted: Submitted | undefined }> {
  const id = formId(state);
  const forms = formsOf(workspace);
  const sent: StoredForm = { request, state: 'sent', sealed: await seal(workspace, id, state) };
  const isNew = await forms.create(id, sent, workspace.clock.now() + KEPT_MS);
  const reopened = (current: StoredForm | undefined): StoredForm =>
    current === undefined || (current.state === 'faulty' && current.request !== request) ? sent : current;
  const stored = isNew ? sent : ((await forms.update(id, reopened)) ?? sent);
  const { submitted } = await open(workspace, id, stored);
  return { request: stored.request, submitted };
}

/** Has a stored form carried out: once, however often this is called, also after a kill before it was. */
async function sendForm(
  { jobs }: Workspace,
  caller: Caller,
  state: ViewState,
  request: string,
): Promise<void> {
  const data = { caller: { ...storedCaller(caller), requestId: request }, form: formId(state) };
  await jobs.send(FORM, data, { key: request });
}

/** The form of a job; undefined where another click has it carried out, or where it is gone. */
async function formOf(workspace: Workspace, job: FormJob): Promise<KnownForm | undefined> {
  const { caller, form, sealed, isDone } = job;
  const request = caller.requestId;
  if (isDone) return undefined;
  const forms = formsOf(workspace);
  if (sealed !== undefined)
    await forms.create(form, { request, state: 'sent', sealed }, workspace.clock.now() + KEPT_MS);
  const stored = await forms.get(form);
  return stored?.request === request ? open(workspace, form, stored) : undefined;
}

/** What came of a form, in whichever replica. */
async function outcomeOf(workspace: Workspace, state: ViewState): Promise<Submitted | undefined> {
  const id = formId(state);
  const stored = await formsOf(workspace).get(id);
  return stored && (await open(workspace, id, stored)).submitted;
}

/** Stores what came of a form in place of what was filled in: what the ack says again to a second click. */
async function storeOutcome(
  workspace: Workspace,
  form: string,
  { audit: _, ...submitted }: Submitted,
  { view: { id, title } }: ViewState,
): Promise<void> {
  const sealed = await seal(workspace, form, { submitted, id, title });
  const ended = submitted.kind === 'errors' ? 'faulty' : 'done';
  await formsOf(workspace).update(form, (current) => current && { ...current, sealed, state: ended });
}

function formsOf({ store }: Workspace): Collection<StoredForm> {
  return store.collection('forms', StoredForm);
}

function seal({ sealer }: Workspace, form: string, value: unknown): Promise<string> {
  return sealer.seal(fieldOf(form), JSON.stringify(value));
}

/** Sealed by us, so nothing else can have put it there. */
async function open({ sealer }: Workspace, form: string, stored: StoredForm): Promise<KnownForm> {
  const known: unknown = JSON.parse(await sealer.open(fieldOf(form), stored.sealed));
  if (stored.state === 'sent') return { state: known as ViewState };
  const { submitted, ...shown } = known as Required<KnownForm> & Pick<ViewState['view'], 'id' | 'title'>;
  const view = { type: 'modal' as const, hash: '', private_metadata: '', blocks: [], ...shown };
  return { submitted, state: { values: {}, metadata: '', view } };
}

function fieldOf(form: string): { record: string; field: string } {
  return { record: `forms/${form}`, field: 'state' };
}

/** Names a form as it was shown: Slack changes the hash with each version. What was typed is no part of it. */
export function formId({ view, metadata }: ViewState): string {
  const parts = [view.id, view.hash, view.callback_id, metadata];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
