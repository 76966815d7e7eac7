import type { CommandContext, Submitted, ViewState } from '../../commands/command.ts';
import { createContext } from '../../commands/resolve-target.ts';
import { withTimeout } from '../../core/clock.ts';
import { AckNotSent, outdated } from '../../core/errors.ts';
import type { Caller } from '../../core/reply.ts';
import { RecentMap } from '../../core/ttl-cache.ts';
import { countRepeated } from '../../observability/metrics.ts';
import { unlessSlackFails } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { workingWords } from '../../views/blocks/message.ts';
import { notice } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  claimsOf,
  createDurableForms,
  type DurableForms,
  formClaim,
  formId,
  sentAlready,
  type TakenForm,
} from '../durable-forms.ts';
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
import { ackOf, DONE, invalidFields, lateMessage, lateView, type SubmissionAck } from './submission-view.ts';

/** Slack waits 3 s for the answer to a submission; after this the modal shows that the work continues. */
const ACK_WITHIN_MS = 2_000;
/** Answers kept for second clicks, which come within seconds. */
const MOST_ANSWERS = 200;

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
  outcome: PromiseWithResolvers<Submitted>;
  /** True where the ack was the outcome itself, and could be sent. */
  answered: PromiseWithResolvers<boolean>;
}

/**
 * Carries out submitted modals, each once, as jobs that were stored before the ack. A second click on the same form gets
 * the first one's answer; only a form that came back with errors may be sent again.
 */
export function createSubmissions(registry: Registry) {
  const answers = new RecentMap<string, Promise<SubmissionAck>>(MOST_ANSWERS);
  const waiting = new Map<string, Waiting>();
  const forms = createDurableForms({
    async run(workspace, form) {
      const known = waiting.get(form.caller.requestId);
      const sent = sentOf(registry, workspace, known?.caller ?? form.caller, form.state);
      try {
        await runForm(sent, form, known);
      } finally {
        waiting.delete(form.caller.requestId);
      }
    },
    fail: (workspace, caller, error) => respondFailure(createContext(workspace, caller), error),
  });

  async function take(workspace: Workspace, caller: Caller, state: ViewState, ack: Ack): Promise<void> {
    const id = formId(state);
    const standing = answers.get(id);
    if (standing !== undefined) return void (await isSent(ack, await standing));
    const outcome = Promise.withResolvers<Submitted>();
    const known = { caller, outcome, answered: Promise.withResolvers<boolean>() };
    waiting.set(caller.requestId, known);
    const first = withTimeout(workspace.clock, ACK_WITHIN_MS, known.outcome.promise);
    const stored = storeOnce(forms, workspace, caller, id, state);
    const answer = stored.then(async (fault) => fault ?? answerTo(await first, state));
    remember(answers, id, answer, known.outcome.promise);
    const isTaken = (await stored) === undefined;
    if (!isTaken) {
      waiting.delete(caller.requestId);
      answers.delete(id);
    }
    const isSeen = await isSent(ack, await answer);
    if (isTaken) known.answered.resolve(isSeen && (await first) !== undefined);
  }

  return {
    /** Stores a form, and answers it with what comes of it within the time that Slack gives. */
    take,
    job: forms.job,
  };
}

/** False where Slack has not seen it, although it may have it sent again. */
async function isSent(ack: Ack, answer: SubmissionAck): Promise<boolean> {
  try {
    await ack(answer);
    return true;
  } catch (error) {
    if (!(error instanceof AckNotSent)) throw error;
    return false;
  }
}

function sentOf(registry: Registry, workspace: Workspace, caller: Caller, state: ViewState): Sent {
  const found = registry.submission(state.view.callback_id ?? '');
  return { registry, workspace, caller, context: createContext(workspace, caller), state, found };
}

/** Stores a form, unless it was taken before; the answer where it cannot be carried out. */
async function storeOnce(
  forms: DurableForms,
  workspace: Workspace,
  caller: Caller,
  id: string,
  state: ViewState,
): Promise<SubmissionAck> {
  try {
    const claim = await claimsOf(workspace).get(id);
    if (claim !== undefined) return ackOf(sentAlready(state), state);
    await forms.store(workspace, caller, id, state);
    return undefined;
  } catch (error) {
    const base = failureWords(explainNotStored(workspace, error));
    return ackOf({ kind: 'errors', errors: {}, base }, state);
  }
}

/** Carries out a form, and answers it: by its ack where that is still open, else in the modal or by a message. */
async function runForm(sent: Sent, form: TakenForm, known: Waiting | undefined): Promise<void> {
  const { channel, requestId: delivery } = sent.caller;
  if (form.isResumed) countRepeated(sent.workspace, { channel, delivery });
  const outcome = outcomeOf(sent, form);
  if (known !== undefined) outcome.then(known.outcome.resolve, known.outcome.reject);
  const isShown = (await known?.answered.promise) || (await showLate(sent, outcome));
  await finish(sent, await outcome, isShown);
}

async function outcomeOf(sent: Sent, form: TakenForm): Promise<Submitted> {
  const { title } = sent.state.view;
  if (form.isDone) return { kind: 'view', view: notice(title.text, DONE) };
  if (form.isResumed && sent.found?.submission.isOrder)
    return { kind: 'view', view: notice(title.text, CUT_OFF) };
  const submitted = await submit(sent, form);
  if (submitted.kind !== 'errors') await form.markDone();
  if (submitted.kind !== 'view') return submitted;
  return { ...submitted, view: answeredIn(submitted.view, sent.caller.answerTs) };
}

const CUT_OFF =
  ':warning: Deckhand was restarted while it carried out this form, so it may or may not be done. Check at the service before you fill it in again.';

/** Kept for the same form; not after errors, since then it may be sent again. */
function remember(
  answers: Map<string, Promise<SubmissionAck>>,
  id: string,
  answer: Promise<SubmissionAck>,
  outcome: Promise<Submitted>,
): void {
  answers.set(id, answer);
  const forget = (): boolean => answers.delete(id);
  void outcome.then(({ kind }) => kind === 'errors' && forget(), forget);
}

/** Errors that come in time stand under their fields; what takes longer first shows that the work continues. */
function answerTo(submitted: Submitted | undefined, state: ViewState): SubmissionAck {
  if (submitted !== undefined) return ackOf(submitted, state);
  const said = ':hourglass_flowing_sand: One moment, this takes a little longer…';
  return { response_action: 'update', view: notice(state.view.title.text, said) };
}

function submit(sent: Sent, form: TakenForm): Promise<Submitted> {
  const { workspace, caller, context, state, found } = sent;
  const submission = found?.submission;
  return carryOut<Submitted>({
    kind: 'form',
    workspace,
    caller,
    command: found?.command.name,
    what: submission?.callbackId,
    role: submission?.role,
    actsIn: submission?.actsIn?.(state),
    isChange: true,
    claim: formClaim(workspace, state, form),
    async run() {
      if (submission === undefined) throw outdated('form');
      return submission.submit(state, context);
    },
    async explain(error) {
      const invalid = invalidIn(error);
      if (invalid !== undefined) return invalidFields(invalid);
      const explained = context.explain(error, { view: state.view.callback_id });
      return { kind: 'errors', errors: {}, base: failureWords(explained), lacks: explained.lacks };
    },
  });
}

/** False where the modal is no longer there. */
async function showLate(sent: Sent, outcome: Promise<Submitted>): Promise<boolean> {
  const { workspace, state, found } = sent;
  const submitted = await outcome.finally(showWorking(sent));
  const view = lateView(state, submitted, found?.submission);
  const shown = workspace.slack.updateModal(state.view.id, view).then(() => true);
  return (await unlessSlackFails(shown)) ?? false;
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
    await respondFailure(context, error, { view: state.view.callback_id ?? '' });
  }
}
