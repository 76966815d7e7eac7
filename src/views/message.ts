import type { Button, ConfirmationDialog, KnownBlock, ModalView as SlackModalView } from '@slack/types';
import { LIMITS } from './limits.ts';
import { cut, plain } from './text.ts';

/** What Deckhand says: `text` for notifications and screen readers, `blocks` for eyes; always both. */
export interface Message {
  text: string;
  blocks: KnownBlock[];
}

export type { KnownBlock };

/** Slack's own type takes any object for a block; ours takes the known ones only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };

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

export function buttons(...specs: ButtonSpec[]): KnownBlock[] {
  if (specs.length === 0) return [];
  return [{ type: 'actions', elements: specs.slice(0, LIMITS.actionElements).map(button) }];
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
