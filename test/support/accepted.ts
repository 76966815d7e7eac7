import type { HomeView } from '@slack/types';
import { expect } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../sandbox/slack/block-kit/view.ts';
import type { KnownBlock, Message, ModalView } from '../../src/core/message.ts';

/** Slack refuses blocks of much over 13,000 characters in all, and says so only when it is too late. */
const MAX_TEXT = 13_000;
/** `chat.update` refuses longer text. */
const MAX_MESSAGE_TEXT = 4_000;

/** What a builder makes: a message, a form, App Home, or blocks of them. */
export type Shown = Message | ModalView | HomeView | KnownBlock[];

/** Slack takes it, and nothing foreign in it is alive. */
export function expectAccepted(shown: Shown): void {
  expect(faultsOf(shown)).toEqual([]);
  for (const markup of markupOf(shown))
    expect(markup).not.toMatch(/<!(?!date\^|subteam\^S0ONCALL>)|<https?:\/\/evil/);
  if ('type' in shown) return;
  const blocks = Array.isArray(shown) ? shown : shown.blocks;
  expect(lengthOf(blocks)).toBeLessThan(MAX_TEXT);
  if (Array.isArray(shown)) return;
  expect(shown.text).not.toBe('');
  expect(shown.text.length).toBeLessThanOrEqual(MAX_MESSAGE_TEXT);
  expect(shown.text).not.toMatch(/<!(?!date\^|subteam\^S0ONCALL>)|<https?:\/\/evil/);
}

function faultsOf(shown: Shown): string[] {
  if (Array.isArray(shown)) return checkMessageBlocks(shown);
  return 'type' in shown
    ? checkView(shown, shown.type === 'home' ? 'home' : 'modal')
    : checkMessageBlocks(shown.blocks);
}

/** Every text that Slack reads markup in. */
function markupOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'type' in value && value.type === 'mrkdwn' && 'text' in value ? [String(value.text)] : [];
  return [...own, ...Object.values(value).flatMap(markupOf)];
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + lengthOf(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + (key === 'text' || typeof item === 'object' ? lengthOf(item) : 0),
    0,
  );
}
