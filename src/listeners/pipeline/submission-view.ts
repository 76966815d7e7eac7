import type { Submission, Submitted, ViewState } from '../../commands/submission.ts';
import type { ServiceError } from '../../core/errors.ts';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { mrkdwn, sanitize, toSentence, truncate } from '../../core/mrkdwn.ts';
import { accessButton, type Explained } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import {
  BANNER,
  isInput,
  notice,
  readFieldName,
  refill,
  resendable,
  withBanner,
  withFieldErrors,
} from '../../views/blocks/modal.ts';

/** Ack of a submitted form, with its outcome. */
export type SubmissionAck =
  | undefined
  | { response_action: 'errors'; errors: Record<string, string> }
  | { response_action: 'update'; view: ModalView }
  | { response_action: 'clear' };

const DONE = ':white_check_mark: Done. You can close this.';

type Errors = Extract<Submitted, { kind: 'errors' }>;

export function createAck(submitted: Submitted, state: ViewState): SubmissionAck {
  switch (submitted.kind) {
    case 'close':
      return { response_action: 'clear' };
    case 'view':
      return { response_action: 'update', view: submitted.view };
    case 'errors': {
      const { fields, base } = sortErrors(submitted, state.view);
      if (base === undefined) return { response_action: 'errors', errors: fields };
      return { response_action: 'update', view: faultyView(state, submitted) };
    }
  }
}

/** Modal with the outcome, after an ack that the work continues has replaced the form. */
export function createLateView(
  state: ViewState,
  submitted: Submitted,
  submission: Submission | undefined,
): ModalView {
  switch (submitted.kind) {
    case 'close':
      return notice(state.view.title.text, DONE);
    case 'view':
      return submitted.view;
    case 'errors':
      // Puts back the typed values, except for secrets.
      return refill(faultyView(state, submitted), state.values, listSecrets(submission, state));
  }
}

/** Message with the outcome, if the modal was closed. */
export function createLateMessage(state: ViewState, submitted: Submitted): Message {
  const form = `The form “${mrkdwn(state.view.title.text, 40)}”`;
  switch (submitted.kind) {
    case 'close':
      return say(`:white_check_mark: ${form} was carried out.`);
    case 'view': {
      const { blocks } = submitted.view;
      if (blocks.some(({ type }) => type === 'input'))
        return say(`${form} has one more step. Open it again to go on.`);
      return { text: `${form} was answered.`, blocks };
    }
    case 'errors': {
      const { base, fields } = sortErrors(submitted, state.view);
      const faults = [base ?? '', ...Object.values(fields).map((fault) => mrkdwn(fault, 300))];
      const text = `:warning: ${form} was not carried out. ${faults.join(' ').trim()}`;
      return say(text, ...accessButton(submitted.lacks));
    }
  }
}

/**
 * Turns a 422 of the service into form errors: each message under its field, the rest above the form. A hint alone
 * follows the first message under a field, because Slack shows no text above the form beside errors.
 */
export function describeInvalidFields({ fields = {}, messages = [], hint }: ServiceError): Submitted {
  const { base = [], ...byField } = fields;
  const errors = Object.entries(byField).map(([field, texts]): [string, string] => [field, texts.join('; ')]);
  const whole = [...base, ...messages];
  const [first] = errors;
  if (hint !== undefined && first !== undefined && whole.length === 0)
    first[1] = `${toSentence(first[1])} ${hint}`;
  else if (hint !== undefined) whole.push(hint);
  if (errors.length === 0 && whole.length === 0) whole.push('The service did not accept this.');
  const underFields = Object.fromEntries(errors.map(([field, text]) => [field, sanitize(text, 300)]));
  const onTop = [...new Set(whole)].join('; ');
  return { kind: 'errors', errors: underFields, ...(onTop === '' ? {} : { base: mrkdwn(onTop, 500) }) };
}

/** Sorts errors by field; those of fields that the modal does not have go above the form, with the field's name. */
function sortErrors(
  { errors, base }: Errors,
  view: ModalView,
): { fields: Record<string, string>; base: string | undefined } {
  const fields: Record<string, string> = {};
  const rest = base === undefined ? [] : [base];
  for (const [field, error] of Object.entries(errors)) {
    const id = findInput(field, view);
    if (id === undefined) rest.push(`${mrkdwn(field, 60)}: ${mrkdwn(error, 300)}`);
    else fields[id] = truncate(fields[id] === undefined ? error : `${toSentence(fields[id])} ${error}`, 300);
  }
  return { fields, base: rest.length === 0 ? undefined : rest.join(' ') };
}

/** Block of a field: its own, or the group of checkboxes that offers it. */
function findInput(field: string, { blocks }: ModalView): string | undefined {
  const isOwn = (name: string): boolean => name === field || name === `properties.${field}`;
  const own = blocks.find((block) => isInput(block) && isOwn(readFieldName(block)));
  return (own ?? blocks.find((block) => offers(block, field)))?.block_id;
}

function offers(block: KnownBlock, field: string): boolean {
  if (block.type !== 'input' || block.element.type !== 'checkboxes') return false;
  return block.element.options.some(({ value }) => value === field);
}

function faultyView(state: ViewState, submitted: Errors): ModalView {
  const { fields, base } = sortErrors(submitted, state.view);
  const view = withFieldErrors(resendable(state.view), fields);
  return base === undefined ? view : withBanner(withAccessButton(view, submitted.lacks), base);
}

const ASK = 'ask-access';

/** Adds the button that asks for access, once, below the banner. */
function withAccessButton(view: ModalView, lacks: Explained['lacks']): ModalView {
  const ask = accessButton(lacks).map((block) => ({ ...block, block_id: ASK }));
  return { ...view, blocks: [...ask, ...view.blocks.filter((block) => block.block_id !== ASK)] };
}

/** The modal with an answer on top, which replaces the banner and the block of the used button. */
export function withAnswer(view: ModalView, { blocks: answer }: Message, used: string): ModalView {
  const others = view.blocks.filter(({ block_id: id }) => id !== BANNER && id !== used);
  const top = answer.map((block, at) => (at === 0 ? { ...block, block_id: BANNER } : block));
  return { ...view, blocks: [...top, ...others] };
}

function listSecrets(submission: Submission | undefined, state: ViewState): readonly string[] {
  const { secrets = [] } = submission ?? {};
  return typeof secrets === 'function' ? secrets(state) : secrets;
}
