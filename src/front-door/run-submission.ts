import { AccountFailure } from '../accounts.ts';
import type { Caller, Submission, Submitted, ViewState } from '../commands/command.ts';
import type { Deckhand } from '../deckhand.ts';
import { UserError } from '../errors.ts';
import { explainAndLog } from '../failures.ts';
import { ServiceError } from '../service/errors.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { ModalView } from '../views/message.ts';
import { notice, refill, resendable, withBanner, withFieldErrors } from '../views/modal.ts';
import { cut, plain } from '../views/text.ts';
import { answerFailure } from './failure.ts';
import type { Registry } from './registry.ts';
import { carryOut, requireRole } from './run-command.ts';

/** Slack waits 3 s for the answer to a submission; past this the modal says that it goes on. */
const PATIENCE_MS = 2_000;

export type SubmissionAck =
  | undefined
  | { response_action: 'errors'; errors: Record<string, string> }
  | { response_action: 'update'; view: ModalView }
  | { response_action: 'clear' };

/**
 * Carries out a submitted modal. What comes of it within 2 s is the ack itself, so that errors stand under their
 * fields; what takes longer first shows that it goes on, and then replaces the modal.
 */
export async function runSubmission(
  deckhand: Deckhand,
  registry: Registry,
  caller: Caller,
  state: ViewState,
  ack: (answer: SubmissionAck) => Promise<void>,
): Promise<void> {
  const callbackId = state.view.callback_id ?? '';
  const found = registry.submission(callbackId);
  const outcome = submit(deckhand, found?.submission, found?.command.name ?? callbackId, caller, state);
  const late = Symbol('late');
  const timer = new AbortController();
  const first = await Promise.race([
    outcome,
    deckhand.clock.sleep(PATIENCE_MS, timer.signal).then(() => late),
  ]).finally(() => timer.abort());
  if (first === late) {
    const title = state.view.title.text;
    await ack({
      response_action: 'update',
      view: notice(title, ':hourglass_flowing_sand: One moment, the service is taking its time…'),
    });
    await showLate(deckhand, caller, state, await outcome, found?.submission);
  } else {
    await ack(ackOf(first as Submitted, state));
  }
  await finish(deckhand, registry, caller, await outcome, callbackId);
}

/** Never rejects: a failure becomes what the person reads in the modal. */
async function submit(
  deckhand: Deckhand,
  submission: Submission | undefined,
  name: string,
  caller: Caller,
  state: ViewState,
): Promise<Submitted> {
  try {
    if (submission === undefined)
      throw new UserError('This form is from an older version of Deckhand.', 'help');
    await requireRole(deckhand, caller, submission.role, name);
    return await submission.submit(state, { caller, account: undefined, text: '', deckhand });
  } catch (error) {
    const failure = error instanceof AccountFailure ? error.cause : error;
    if (failure instanceof ServiceError && failure.kind === 'invalid') return faultsOf(failure);
    const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
    const explained = explainAndLog(error, at, deckhand.log, {
      workspace: caller.workspace,
      user: caller.user,
      view: state.view.callback_id,
    });
    const reference = explained.reference === undefined ? '' : ` Reference \`${explained.reference}\`.`;
    return {
      kind: 'errors',
      errors: {},
      base: `${explained.text} ${explained.next ?? ''}${reference}`.trim(),
    };
  }
}

/** A 422 of the service: each message under the field it names, the rest on top. */
function faultsOf(failure: ServiceError): Submitted {
  const { base = [], ...fields } = failure.fields ?? {};
  const errors = Object.fromEntries(
    Object.entries(fields).map(([field, messages]) => [field, plain(messages.join('; '), 300)]),
  );
  const whole = [...base, ...(failure.messages ?? [])];
  if (Object.keys(errors).length === 0 && whole.length === 0)
    whole.push(failure.hint ?? 'The service did not accept this.');
  return { kind: 'errors', errors, ...(whole.length === 0 ? {} : { base: plain(whole.join('; '), 500) }) };
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
    if (place === undefined) rest.push(`${plain(field, 60)}: ${error}`);
    else fields[place] = cut(error, 300);
  }
  return { fields, base: rest.length === 0 ? undefined : rest.join(' ') };
}

function faultyView(state: ViewState, fields: Record<string, string>, base: string | undefined): ModalView {
  const view = withFieldErrors(resendable(state.view), fields);
  return base === undefined ? view : withBanner(view, base);
}

async function showLate(
  deckhand: Deckhand,
  caller: Caller,
  state: ViewState,
  submitted: Submitted,
  submission: Submission | undefined,
): Promise<void> {
  const view = lateView(state, submitted, submission);
  try {
    await deckhand.slack.updateModal(caller.workspace, state.view.id, view);
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
      return refill(faultyView(state, fields, base), state.values, submission?.secrets ?? []);
    }
  }
}

async function finish(
  deckhand: Deckhand,
  registry: Registry,
  caller: Caller,
  submitted: Submitted,
  callbackId: string,
): Promise<void> {
  if (submitted.kind !== 'close' || submitted.after === undefined) return;
  try {
    await carryOut(deckhand, registry, caller, await submitted.after());
  } catch (error) {
    await answerFailure(deckhand, caller, error, { view: callbackId });
  }
}
