import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CommandContext, Submitted, ViewState } from '../../commands/command.ts';
import { createContext } from '../../commands/context.ts';
import { UserError } from '../../core/errors.ts';
import type { Caller } from '../../core/reply.ts';
import { withTimeout } from '../../core/timeout.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { workingWords } from '../../views/blocks/message.ts';
import { notice } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { type Claim, carryOut, invalidIn } from './pipeline.ts';
import { MARKS_MS, type Progress, respondFailure, showProgress } from './respond.ts';
import { follow } from './run-command.ts';
import { ackOf, invalidFields, lateView, type SubmissionAck } from './submission-view.ts';

/** Slack waits 3 s for the answer to a submission; after this the modal shows that the work continues. */
const ACK_WITHIN_MS = 2_000;
/** Answers kept for second clicks, which come within seconds. */
const MOST_ANSWERS = 200;

export type RunSubmission = (
  workspace: Workspace,
  caller: Caller,
  state: ViewState,
  ack: (answer: SubmissionAck) => Promise<void>,
) => Promise<void>;

/** A form that was sent: enough to carry it out and to answer. */
interface Sent {
  registry: Registry;
  workspace: Workspace;
  caller: Caller;
  context: CommandContext;
  state: ViewState;
  found: ReturnType<Registry['submission']>;
}

/**
 * Carries out submitted modals, each once. A second click on the same form gets the first one's answer; only a form
 * that came back with errors may be sent again.
 */
export function createSubmissions(registry: Registry): RunSubmission {
  const answers = new Map<string, Promise<SubmissionAck>>();
  return async (workspace, caller, state, ack) => {
    const id = formId(state);
    const standing = answers.get(id);
    if (standing !== undefined) return ack(await standing);
    const context = createContext(workspace, caller);
    const found = registry.submission(state.view.callback_id ?? '');
    const sent = { registry, workspace, caller, context, state, found };
    const outcome = submit(sent, id);
    const first = withTimeout(workspace.clock, ACK_WITHIN_MS, outcome);
    const answer = first.then((submitted) => answerTo(submitted, state));
    remember(answers, id, answer, outcome);
    await ack(await answer);
    if ((await first) === undefined) await showLate(sent, outcome);
    await finish(sent, await outcome);
  };
}

/** Kept for the same form; not after errors, since then it may be sent again. */
function remember(
  answers: Map<string, Promise<SubmissionAck>>,
  id: string,
  answer: Promise<SubmissionAck>,
  outcome: Promise<Submitted>,
): void {
  answers.set(id, answer);
  const [oldest] = answers.size > MOST_ANSWERS ? answers.keys() : [];
  if (oldest !== undefined) answers.delete(oldest);
  const forget = (): boolean => answers.delete(id);
  void outcome.then(({ kind }) => kind === 'errors' && forget(), forget);
}

/** Errors that come in time stand under their fields; what takes longer first shows that the work continues. */
function answerTo(submitted: Submitted | undefined, state: ViewState): SubmissionAck {
  if (submitted !== undefined) return ackOf(submitted, state);
  const said = ':hourglass_flowing_sand: One moment, the service is taking its time…';
  return { response_action: 'update', view: notice(state.view.title.text, said) };
}

function submit(sent: Sent, id: string): Promise<Submitted> {
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
    claim: formClaim(workspace, state, id),
    async run() {
      if (submission === undefined)
        throw new UserError('This form is from an older version of Deckhand.', 'help');
      return submission.submit(state, context);
    },
    async explain(error) {
      const invalid = invalidIn(error);
      if (invalid !== undefined) return invalidFields(invalid);
      const explained = context.explain(error, { view: state.view.callback_id });
      return { kind: 'errors', errors: {}, base: failureWords(explained) };
    },
  });
}

const Sending = z.object({ at: z.number() });
const CLAIM_MS = 24 * 60 * 60 * 1000;

/** Another process took the form, or one that was killed: the person checks before it is done a second time. */
function formClaim({ store, clock }: Workspace, { view }: ViewState, id: string): Claim<Submitted> {
  const claims = store.collection('submissions', Sending);
  return {
    async take() {
      const at = clock.now();
      if (await claims.create(id, { at }, at + CLAIM_MS)) return undefined;
      const said =
        ':information_source: This form was sent already. Check whether it was carried out before you fill it in again.';
      return { kind: 'view', view: notice(view.title.text, said) };
    },
    async release() {
      await claims.delete(id);
    },
  };
}

/** Names a form as it was shown: Slack changes the hash with each version. What was typed is no part of it. */
function formId({ view, metadata }: ViewState): string {
  const parts = [view.id, view.hash, view.callback_id, metadata];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

async function showLate(sent: Sent, outcome: Promise<Submitted>): Promise<void> {
  const { workspace, state, found } = sent;
  const progress = showWorking(sent);
  const submitted = await outcome.finally(() => progress.stop());
  try {
    await workspace.slack.updateModal(state.view.id, lateView(state, submitted, found?.submission));
  } catch (error) {
    // The person closed the modal in the meantime: the outcome is shown in the channel where it matters.
    if (!isSlackFailure(error)) throw error;
  }
}

/** For how long the work has continued, in the modal, until the outcome replaces it. */
function showWorking({ workspace, state }: Sent): Progress {
  const left = MARKS_MS.filter((mark) => mark > ACK_WITHIN_MS).map((mark) => mark - ACK_WITHIN_MS);
  const show = async (ms: number): Promise<void> => {
    const view = notice(state.view.title.text, workingWords(ms + ACK_WITHIN_MS));
    await workspace.slack.updateModal(state.view.id, view);
  };
  return showProgress(workspace, show, left);
}

async function finish(sent: Sent, submitted: Submitted): Promise<void> {
  if (submitted.kind !== 'close' || submitted.after === undefined) return;
  const { context, state } = sent;
  try {
    await follow(sent, await submitted.after());
  } catch (error) {
    await respondFailure(context, error, { view: state.view.callback_id ?? '' });
  }
}
