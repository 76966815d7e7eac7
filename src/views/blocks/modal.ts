import { z } from 'zod';
import { defined } from '../../core/json.ts';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { mrkdwn } from '../../core/mrkdwn.ts';
import { withValue } from './inputs.ts';
import { LIMITS, plainText, section } from './make-blocks.ts';

interface ModalSpec {
  /** Absent if the modal has no form. */
  submit?: string;
  close?: string;
  /** JSON that the submission returns; never a secret. */
  metadata?: unknown;
}

export const BANNER = 'banner';

export function modal(
  callbackId: string,
  title: string,
  { submit, close = 'Cancel', metadata }: ModalSpec,
  blocks: readonly KnownBlock[],
): ModalView {
  return {
    type: 'modal',
    callback_id: callbackId,
    title: plainText(title, LIMITS.viewTitle),
    close: plainText(close, LIMITS.viewButton),
    blocks: blocks.slice(0, LIMITS.blocksInView),
    ...defined({
      submit: submit === undefined ? undefined : plainText(submit, LIMITS.viewButton),
      private_metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
    }),
  };
}

/** A modal without a form that reports progress or a result. `text` is escaped mrkdwn. */
export function notice(title: string, text: string, ...more: KnownBlock[]): ModalView {
  return modal('notice', title, { close: 'Close' }, [section(text), ...more]);
}

/** Shows a message in a modal. */
export function drawNotice(title: string, { blocks }: Message): ModalView {
  return modal('notice', title, { close: 'Close' }, blocks);
}

/** Adds a message at the top of a modal. The typed values remain, because the blocks keep their ids. */
export function withBanner(view: ModalView, text: string): ModalView {
  const blocks = view.blocks.filter((block) => block.block_id !== BANNER);
  return { ...view, blocks: [{ ...section(`:warning: ${text}`), block_id: BANNER }, ...blocks] };
}

export type InputBlock = Extract<KnownBlock, { type: 'input' }>;

export function isInput(block: KnownBlock): block is InputBlock {
  return block.type === 'input';
}

/** Name of an input's field. The `block_id` of a form that came back is `<field>:<n>`. */
export function readFieldName({ element, block_id: id = '' }: InputBlock): string {
  return element.action_id ?? id;
}

/** Adds a plain-text message under each field, in a modal that is updated because its answer came late. */
export function withFieldErrors(view: ModalView, errors: Record<string, string>): ModalView {
  const blocks = view.blocks
    .filter((block) => !block.block_id?.endsWith(':error'))
    .flatMap((block): KnownBlock[] => {
      const error = block.block_id === undefined ? undefined : errors[block.block_id];
      if (error === undefined) return [block];
      return [block, { ...section(`:warning: ${mrkdwn(error, 500)}`), block_id: `${block.block_id}:error` }];
    });
  return { ...view, blocks };
}

/** Fills the form with the typed values, except the `secrets`. */
export function refill(view: ModalView, values: Values, secrets: readonly string[]): ModalView {
  const blocks = view.blocks.map((block): KnownBlock => {
    if (!isInput(block) || secrets.includes(readFieldName(block))) return block;
    const value = values[readFieldName(block)];
    return value === undefined || value === ''
      ? block
      : { ...block, element: withValue(block.element, value) };
  });
  return { ...view, blocks };
}

/** The part of a received view that may be sent back. */
export function resendable(view: ModalView): ModalView {
  const { title, blocks, callback_id } = view;
  const submit = view.submit || undefined;
  const close = view.close || undefined;
  const private_metadata = view.private_metadata || undefined;
  return { type: 'modal', title, blocks, ...defined({ callback_id, submit, close, private_metadata }) };
}

/** An element of a modal, of the kinds that Deckhand's inputs use. */
const Element = z.looseObject({
  value: z.string().nullish(),
  selected_option: z.looseObject({ value: z.string() }).nullish(),
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_users: z.array(z.string()).nullish(),
  selected_conversation: z.string().nullish(),
  selected_time: z.string().nullish(),
});

const State = z.looseObject({ values: z.record(z.string(), z.record(z.string(), Element)) });

/** Maximum length that Slack allows for a field. */
const MAX_TYPED = 3_000;

export type Values = Record<string, string | string[] | undefined>;

/** Values by `action_id`. An empty field is undefined; a checkbox group is always a list. */
export function readState(state: unknown): Values {
  const parsed = State.safeParse(state);
  if (!parsed.success) return {};
  const values: Values = {};
  for (const block of Object.values(parsed.data.values))
    for (const [actionId, element] of Object.entries(block)) values[actionId] = readElement(element);
  return values;
}

function readElement(element: z.infer<typeof Element>): Values[string] {
  return (
    element.selected_options?.map((option) => option.value) ??
    element.selected_users ??
    element.value?.slice(0, MAX_TYPED) ??
    element.selected_option?.value ??
    element.selected_conversation ??
    element.selected_time ??
    undefined
  );
}

/** The values that a form shows when it is opened, by field. */
export function readInitial({ blocks }: Pick<ModalView, 'blocks'>): Values {
  return Object.fromEntries(
    blocks.filter(isInput).map((block) => [readFieldName(block), readInitialElement(block)]),
  );
}

/** `initial_value` is `value` in a form that came back, and the other `initial_` fields begin with `selected_` there. */
function readInitialElement({ element }: InputBlock): Values[string] {
  const typed = Object.entries(element).map(([key, value]) => [
    key.replace(/^initial_value$/, 'value').replace(/^initial_/, 'selected_'),
    value,
  ]);
  return readElement(Element.safeParse(Object.fromEntries(typed)).data ?? {});
}

export function messagesByField(error: z.ZodError): Record<string, string> {
  return Object.fromEntries(error.issues.toReversed().map((issue) => [issue.path.join('.'), issue.message]));
}

/** True if an error is about a field that the form does not show yet. The form is then drawn with it first. */
export function isAnyHidden(errors: Record<string, string>, { blocks }: ModalView): boolean {
  const fields = new Set(blocks.filter(isInput).map(readFieldName));
  return Object.keys(errors).some((field) => !fields.has(field));
}
