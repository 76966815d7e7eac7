import type { Submission, Submitted, ViewState } from '../../commands/command.ts';
import { requirePermission } from '../../commands/permission.ts';
import { UserError } from '../../core/errors.ts';
import type { ModalView } from '../../core/message.ts';
import { cut, mrkdwn, plain } from '../../core/mrkdwn.ts';
import type { Caller } from '../../core/reply.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { ServiceError } from '../../service/errors.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { workingWords } from '../../views/blocks/message.ts';
import { notice, refill, resendable, withBanner, withFieldErrors } from '../../views/blocks/modal.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { answerFailure } from './answer-failure.ts';
import { instrument } from './instrument.ts';
import { MARKS_MS, type Progress, showProgress } from './progress.ts';
import { carryOut } from './run-command.ts';
import { createSubmissionClaims, formId, type SubmissionClaims } from './submission-claims.ts';

/** Slack waits 3 s for the answer to a submission; past this the modal says that it goes on. */
const PATIENCE_MS = 2_000;

export type SubmissionAck =
  | undefined
  | { response_action: 'errors'; errors: Record<string, string> }
  | { response_action: 'update'; view: ModalView }
  | { response_action: 'clear' };

export type RunSubmission = (
  workspace: Workspace,
  caller: Caller,
  state: ViewState,
  ack: (answer: SubmissionAck) => Promise<void>,
) => Promise<void>;

/** Who sent which form: enough to carry it out and to answer. */
interface Sent {
  workspace: Workspace;
  registry: Registry;
  caller: Caller;
  state: ViewState;
}

/**
 * Carries out submitted modals, each once. A second click on the same form gets the first one's answer; only a form
 * that came back with faults may be sent again.
 */
export function createSubmissions(registry: Registry): RunSubmission {
  const claims = createSubmissionClaims<SubmissionAck>();
  return async (workspace, caller, state, ack) => {
    const sent = { workspace, registry, caller, state };
    const id = formId(state);
    const twin = claims.answerOf(id);
    if (twin !== undefined) return ack(await twin);
    const outcome = submit(sent, claims, id);
    const first = answerInTime(sent, outcome);
    claims.remember(
      id,
      first.then(({ answer }) => answer),
      outcome.then(({ kind }) => kind !== 'errors'),
    );
    const { answer, isLate } = await first;
    await ack(answer);
    const progress = isLate ? showHowFar(sent) : undefined;
    const submitted = await outcome;
    await progress?.stop();
    if (isLate) await showLate(sent, submitted);
    await finish(sent, submitted);
  };
}

/**
 * What comes of a submission within 2 s is the ack itself, so that errors stand under their fields; what takes longer
 * first shows that it goes on, and then replaces the modal.
 */
async function answerInTime(
  { workspace, state }: Sent,
  outcome: Promise<Submitted>,
): Promise<{ answer: SubmissionAck; isLate: boolean }> {
  const timer = new AbortController();
  const first = await Promise.race([
    outcome,
    workspace.clock.sleep(PATIENCE_MS, timer.signal).then(() => 'late' as const),
  ]).finally(() => timer.abort());
  if (first !== 'late') return { answer: ackOf(first, state), isLate: false };
  const said = ':hourglass_flowing_sand: One moment, the service is taking its time…';
  return {
    answer: { response_action: 'update', view: notice(state.view.title.text, said) },
    isLate: true,
  };
}

/** For how long it has gone on, in the modal, until the outcome replaces it. */
function showHowFar({ workspace, state }: Sent): Progress {
  const left = MARKS_MS.filter((mark) => mark > PATIENCE_MS).map((mark) => mark - PATIENCE_MS);
  const show = async (ms: number): Promise<void> => {
    const view = notice(state.view.title.text, workingWords(ms + PATIENCE_MS));
    await workspace.slack.updateModal(state.view.id, view);
  };
  return showProgress(workspace, show, left);
}

/** Never rejects: a failure becomes what the person reads in the modal. */
function submit(sent: Sent, claims: SubmissionClaims<SubmissionAck>, id: string): Promise<Submitted> {
  const found = sent.registry.submission(sent.state.view.callback_id ?? '');
  const command = found?.command.name ?? 'unknown';
  const asked = { command, by: 'form', what: found?.submission.callbackId } as const;
  return instrument(sent.workspace, asked, async (end) => {
    try {
      if (!(await claims.take(sent.workspace, id))) return sentAlready(sent);
      const submitted = await attempt(sent, found).catch(async (error: unknown) => {
        await claims.release(sent.workspace, id);
        throw error;
      });
      if (submitted.kind === 'errors') await claims.release(sent.workspace, id);
      end(submitted.kind === 'errors' ? 'refused' : 'done');
      return submitted;
    } catch (error) {
      end(error instanceof UserError || invalidIn(error) !== undefined ? 'refused' : 'failed');
      return faultOf(sent, error);
    }
  });
}

async function attempt(
  { workspace, caller, state }: Sent,
  found: ReturnType<Registry['submission']>,
): Promise<Submitted> {
  if (found === undefined) throw new UserError('This form is from an older version of Deckhand.', 'help');
  await requirePermission(workspace, caller, found.submission.role, found.command.name);
  return found.submission.submit(state, { caller, account: undefined, text: '', workspace });
}

/** Another process took the form, or one that died over it: doing it twice could cost more than asking to look. */
function sentAlready({ state }: Sent): Submitted {
  const said =
    ':information_source: This form was sent already. See whether it was carried out before you fill it in again.';
  return { kind: 'view', view: notice(state.view.title.text, said) };
}

function faultOf({ workspace, caller, state }: Sent, error: unknown): Submitted {
  const invalid = invalidIn(error);
  if (invalid !== undefined) return faultsOf(invalid);
  const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
  const explained = explainAndLog(error, at, workspace.log, {
    user: caller.user,
    view: state.view.callback_id,
  });
  return { kind: 'errors', errors: {}, base: failureWords(explained) };
}

/** What the service said of the fields, where it took none of them. */
function invalidIn(error: unknown): ServiceError | undefined {
  const failure = error instanceof AccountFailure ? error.cause : error;
  return failure instanceof ServiceError && failure.kind === 'invalid' ? failure : undefined;
}

/** A 422 of the service: each message under the field it names, the rest on top. */
function faultsOf(failure: ServiceError): Submitted {
  const { base = [], ...fields } = failure.fields ?? {};
  const errors = Object.fromEntries(
    Object.entries(fields).map(([field, messages]) => [field, plain(messages.join('; '), 300)]),
  );
  const whole = [...new Set([...base, ...(failure.messages ?? [])])];
  if (Object.keys(errors).length === 0 && whole.length === 0)
    whole.push(failure.hint ?? 'The service did not accept this.');
  return { kind: 'errors', errors, ...(whole.length === 0 ? {} : { base: mrkdwn(whole.join('; '), 500) }) };
}

function ackOf(submitted: Submitted, state: ViewState): SubmissionAck {
  switch (submitted.kind) {
    case 'close':
      return { response_action: 'clear' };
    case 'view':
      return { response_action: 'update', view: submitted.view };
    case 'errors': {
      const { fields, base } = placed(submitted, state.view);
      if (base === undefined) return { response_action: 'errors', errors: fields };
      return { response_action: 'update', view: faultyView(state, fields, base) };
    }
  }
}

/** Errors of fields that the modal does not have are told on top, with the field's name. */
function placed(
  submitted: Extract<Submitted, { kind: 'errors' }>,
  view: ModalView,
): { fields: Record<string, string>; base: string | undefined } {
  const shown = new Set(view.blocks.map((block) => block.block_id));
  const fields: Record<string, string> = {};
  const rest = submitted.base === undefined ? [] : [submitted.base];
  for (const [field, error] of Object.entries(submitted.errors)) {
    const place = [field, `properties.${field}`].find((id) => shown.has(id));
    if (place === undefined) rest.push(`${mrkdwn(field, 60)}: ${mrkdwn(error, 300)}`);
    else fields[place] = cut(error, 300);
  }
  return { fields, base: rest.length === 0 ? undefined : rest.join(' ') };
}

function faultyView(state: ViewState, fields: Record<string, string>, base: string | undefined): ModalView {
  const view = withFieldErrors(resendable(state.view), fields);
  return base === undefined ? view : withBanner(view, base);
}

async function showLate(sent: Sent, submitted: Submitted): Promise<void> {
  const { workspace, registry, state } = sent;
  const submission = registry.submission(state.view.callback_id ?? '')?.submission;
  try {
    const view = lateView(state, submitted, submission);
    await workspace.slack.updateModal(state.view.id, view);
  } catch (error) {
    // The person closed the modal in the meantime: the outcome is told in the channel where it matters.
    if (!isSlackFailure(error)) throw error;
  }
}

function lateView(state: ViewState, submitted: Submitted, submission: Submission | undefined): ModalView {
  switch (submitted.kind) {
    case 'close':
      return notice(state.view.title.text, ':white_check_mark: Done. You can close this.');
    case 'view':
      return submitted.view;
    case 'errors': {
      const { fields, base } = placed(submitted, state.view);
      // The form was replaced meanwhile, so what was typed is put back, all but the secrets.
      return refill(faultyView(state, fields, base), state.values, secretsOf(submission, state));
    }
  }
}

async function finish({ workspace, registry, caller, state }: Sent, submitted: Submitted): Promise<void> {
  if (submitted.kind !== 'close' || submitted.after === undefined) return;
  try {
    await carryOut(workspace, registry, caller, await submitted.after());
  } catch (error) {
    await answerFailure(workspace, caller, error, { view: state.view.callback_id ?? '' });
  }
}

function secretsOf(submission: Submission | undefined, state: ViewState): readonly string[] {
  const { secrets = [] } = submission ?? {};
  return typeof secrets === 'function' ? secrets(state) : secrets;
}
