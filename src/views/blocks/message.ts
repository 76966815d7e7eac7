import type { Button, ConfirmationDialog, KnownBlock } from '@slack/types';
import type { Message } from '../../core/message.ts';
import { cut, plain } from '../../core/mrkdwn.ts';
import { LIMITS } from './limits.ts';

/** `text` is mrkdwn whose foreign parts are escaped already. */
export function section(text: string, accessory?: Button): KnownBlock {
  const block: KnownBlock = {
    type: 'section',
    text: { type: 'mrkdwn', text: cut(text, LIMITS.sectionText) },
  };
  return accessory === undefined ? block : { ...block, accessory };
}

export function context(...texts: string[]): KnownBlock {
  return {
    type: 'context',
    elements: texts
      .slice(0, LIMITS.contextElements)
      .map((text) => ({ type: 'mrkdwn', text: cut(text, LIMITS.sectionText) })),
  };
}

export function header(text: string): KnownBlock {
  return { type: 'header', text: { type: 'plain_text', text: plain(text, LIMITS.headerText) } };
}

export interface ButtonSpec {
  /** Shown on the button; may be foreign. */
  label: string;
  actionId: string;
  /** What the click needs to know, so that it survives a restart; parsed again when it comes back. */
  value?: unknown;
  style?: 'primary' | 'danger';
  url?: string;
  confirm?: { title: string; text: string; confirm: string };
}

export function button(spec: ButtonSpec): Button {
  return {
    type: 'button',
    action_id: spec.actionId,
    text: { type: 'plain_text', text: plain(spec.label, LIMITS.buttonText), emoji: true },
    ...(spec.value === undefined ? {} : { value: JSON.stringify(spec.value) }),
    ...(spec.style === undefined ? {} : { style: spec.style }),
    ...(spec.url === undefined ? {} : { url: spec.url }),
    ...(spec.confirm === undefined ? {} : { confirm: confirmation(spec.confirm) }),
  };
}

/** A button that knows more than Slack carries is left out: its message is worth more. */
export function buttons(...specs: ButtonSpec[]): KnownBlock[] {
  const elements = specs.map(button).filter(({ value = '' }) => value.length <= LIMITS.buttonValue);
  if (elements.length === 0) return [];
  return [{ type: 'actions', elements: elements.slice(0, LIMITS.actionElements) }];
}

/** A message of one sentence, and perhaps what to do next. */
export function say(text: string, ...more: KnownBlock[]): Message {
  return { text: cut(text, LIMITS.messageText), blocks: [section(text), ...more] };
}

function confirmation(spec: NonNullable<ButtonSpec['confirm']>): ConfirmationDialog {
  return {
    title: { type: 'plain_text', text: plain(spec.title, LIMITS.confirmTitle) },
    text: { type: 'plain_text', text: plain(spec.text, LIMITS.confirmText) },
    confirm: { type: 'plain_text', text: plain(spec.confirm, LIMITS.confirmButton) },
    deny: { type: 'plain_text', text: 'Cancel' },
  };
}

/** The message without one of its buttons or menus: the one with this action and value. */
export function withoutElement(
  message: Message,
  used: { actionId: string; value?: string | undefined },
): Message {
  const isUsed = (element: object): boolean =>
    'action_id' in element &&
    element.action_id === used.actionId &&
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
