import type { Button, ConfirmationDialog, Overflow, RichTextBlock, RichTextSection } from '@slack/types';
import { isThisMachine } from '../../core/http.ts';
import type { KnownBlock, Message } from '../../core/message.ts';
import { code, duration, escapeMarkup, mrkdwnText, sanitize, truncateMarkup } from '../../core/mrkdwn.ts';

/** `text` is mrkdwn; its foreign parts must be escaped. */
export function section(text: string, accessory?: Button | Overflow | false): KnownBlock {
  return {
    type: 'section',
    text: mrkdwnText(truncateMarkup(text, LIMITS.sectionText)),
    ...(accessory && { accessory }),
  };
}

type OptionalText = string | false | undefined;

/** A context block of the texts; skips missing and empty ones. */
export function context(...texts: readonly OptionalText[]): KnownBlock {
  const elements = texts.flatMap((text) =>
    text ? mrkdwnText(truncateMarkup(text, LIMITS.sectionText)) : [],
  );
  return { type: 'context', elements: elements.slice(0, LIMITS.contextElements) };
}

/** A context block, or no block if there is no text. */
export function notes(...texts: readonly OptionalText[]): KnownBlock[] {
  return texts.some(Boolean) ? [context(...texts)] : [];
}

export function header(text: string): KnownBlock {
  return { type: 'header', text: plainText(text, LIMITS.headerText) };
}

/** Text that is shown letter for letter, without markup. */
export function preformatted(text: string): KnownBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** A rich text of one line. */
export function richText(...elements: RichTextSection['elements']): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

/** Foreign text as Slack's plain text object, in which `:100:` stays as it is. */
export function plainText(text: string, max: number): { type: 'plain_text'; text: string; emoji: false } {
  return { type: 'plain_text', text: sanitize(text, max), emoji: false };
}

/** Words after the name of a followed test or server whose end is unknown. */
export const UNENDED = {
  stopped: { icon: ':x:', words: 'stopped' },
  lost: { icon: ':grey_question:', words: 'is no longer followed' },
} as const;

/** A message of one sentence, with optional blocks below. */
export function say(text: string, ...more: KnownBlock[]): Message {
  return { text: truncateMarkup(text, LIMITS.messageText), blocks: [section(text), ...more] };
}

/** @param title plain text; may be foreign */
export function headed(title: string, ...blocks: KnownBlock[]): Message {
  return { text: escapeMarkup(title), blocks: [header(title), ...blocks] };
}

const LONG_WAIT_MS = 10_000;

/**
 * Tells that an answer takes longer than two seconds; from ten seconds on, how long it has taken. `line`: the
 * command.
 */
export function workingWords(elapsedMs: number, line?: string): string {
  const elapsed = elapsedMs < LONG_WAIT_MS ? '' : ` (${duration(elapsedMs)} so far)`;
  const what = line === undefined ? '' : `: ${code(line)}`;
  return `:hourglass_flowing_sand: Still working on it${elapsed}${what}…`;
}

/** Shown only to the person who asked. */
export function workingMessage(elapsedMs = 0, line?: string): Message {
  return say(workingWords(elapsedMs, line));
}

interface ButtonSpec {
  /** Data that a click returns, so that it works after a restart. Deckhand parses it again. */
  value?: unknown;
  style?: 'primary' | 'danger';
  url?: string;
  confirm?: { title: string; text: string; confirm: string };
}

/** @param label may be foreign */
export function button(
  label: string,
  actionId: string,
  { value, style, url, confirm }: ButtonSpec = {},
): Button {
  return {
    type: 'button',
    action_id: actionId,
    text: plainText(label, LIMITS.buttonText),
    ...(value !== undefined && { value: JSON.stringify(value) }),
    ...(style && { style }),
    ...(url && { url }),
    ...(confirm && { confirm: confirmation(confirm) }),
  };
}

/** An option of a "…" menu. */
export interface MenuOption {
  label: string;
  actionId: string;
  value: unknown;
}

/** A "…" menu of small buttons. The value of each option names the action of its button. */
export function overflowMenu(actionId: string, options: readonly MenuOption[]): Overflow {
  return {
    type: 'overflow',
    action_id: actionId,
    options: options.map(({ label, actionId: action, value }) => ({
      text: plainText(label, LIMITS.buttonText),
      value: `${action} ${JSON.stringify(value)}`,
    })),
  };
}

/** Reads the action and the value of an option of `overflowMenu`. */
export function readMenuOption(option: string): { actionId: string; value: string } {
  const [actionId = ''] = option.split(' ', 1);
  return { actionId, value: option.slice(actionId.length + 1) };
}

/** A button that opens a foreign address; undefined if the address is not safe. */
export function linkButton(
  label: string,
  actionId: string,
  address: string | null | undefined,
  style?: 'primary',
): Button | undefined {
  const url = safeUrl(address);
  return url === undefined ? undefined : button(label, actionId, { url, ...(style && { style }) });
}

/** Omits a button with more data than Slack carries, so that its message still arrives. */
export function buttons(...several: ReadonlyArray<Button | Overflow | false | undefined>): KnownBlock[] {
  const elements = several
    .filter((one) => one !== false && one !== undefined)
    .filter((one) => one.type === 'overflow' || (one.value ?? '').length <= LIMITS.buttonValue)
    .slice(0, LIMITS.actionElements);
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

function confirmation(spec: NonNullable<ButtonSpec['confirm']>): ConfirmationDialog {
  return {
    title: plainText(spec.title, LIMITS.confirmTitle),
    text: plainText(spec.text, LIMITS.confirmText),
    confirm: plainText(spec.confirm, LIMITS.confirmButton),
    deny: plainText('Cancel', LIMITS.confirmButton),
  };
}

/** A foreign address that a button may open: https, or a service on this machine; undefined for any other. */
export function safeUrl(url: string | null | undefined): string | undefined {
  if (!url || url.length > LIMITS.buttonUrl || !URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return undefined;
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname)) ? url : undefined;
}

/** Removes from the message the button or menu with this action and value. */
export function withoutElement(
  message: Message,
  used: { actionId?: string; value?: string | undefined },
): Message {
  const isUsed = (element: object): boolean =>
    'action_id' in element &&
    (used.actionId === undefined || element.action_id === used.actionId) &&
    (!('value' in element) || element.value === used.value);
  const blocks = message.blocks.flatMap((block): KnownBlock[] => {
    if (block.type === 'section' && block.accessory !== undefined && isUsed(block.accessory)) {
      const { accessory: _, ...rest } = block;
      return [rest];
    }
    if (block.type !== 'actions') return [block];
    const elements = block.elements.filter((element) => !isUsed(element));
    return elements.length === 0 ? [] : [{ ...block, elements }];
  });
  return { ...message, blocks };
}

/** Limits of Slack's Block Kit that Deckhand's views can reach, in characters or pieces. */
export const LIMITS = {
  blocksInMessage: 50,
  blocksInView: 100,
  viewTitle: 24,
  viewButton: 24,
  sectionText: 3000,
  headerText: 150,
  contextElements: 10,
  blockId: 255,
  actionElements: 25,
  buttonText: 75,
  buttonValue: 2000,
  buttonUrl: 3000,
  options: 100,
  optionText: 75,
  optionValue: 150,
  optionDescription: 75,
  placeholder: 150,
  inputLabel: 2000,
  inputHint: 2000,
  inputText: 3000,
  checkboxes: 10,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  tableRows: 100,
  chartsInMessage: 2,
  chartTitle: 50,
  chartCategories: 20,
  /**
   * `chat.postMessage` cuts text over 40,000, and `chat.update` rejects it over 4,000. The smaller limit
   * suits both.
   */
  messageText: 4000,
} as const;
