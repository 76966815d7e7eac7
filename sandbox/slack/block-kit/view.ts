import { z } from 'zod';
import { homeBlock, modalBlock } from './blocks.ts';
import { checkCharts } from './charts.ts';
import { explain, fault } from './explain.ts';
import { LIMITS } from './limits.ts';
import { chars, items, plainText } from './texts.ts';
import { checkAcross } from './uniqueness.ts';

const shared = {
  private_metadata: chars(LIMITS.privateMetadata).optional(),
  callback_id: chars(LIMITS.callbackId).optional(),
  external_id: chars(LIMITS.id).optional(),
};

const word = plainText(LIMITS.viewWord);

const modal = z.strictObject({
  type: z.literal('modal'),
  title: word,
  blocks: items(modalBlock, LIMITS.viewBlocks),
  close: word.optional(),
  submit: word.optional(),
  submit_disabled: z.boolean().optional(),
  clear_on_close: z.boolean().optional(),
  notify_on_close: z.boolean().optional(),
  ...shared,
});

const home = z.strictObject({
  type: z.literal('home'),
  blocks: items(homeBlock, LIMITS.viewBlocks),
  ...shared,
});

const VIEWS = { modal, home };

/** Everything Slack would refuse in a view, in its words; empty where it passes. Size is checked apart. */
export function checkView(view: unknown, type: 'modal' | 'home', root = '/view'): string[] {
  const parsed = VIEWS[type].safeParse(view, { reportInput: true });
  if (!parsed.success) return explain(parsed.error.issues, root);
  return [
    ...checkAcross(parsed.data.blocks, `${root}/blocks`),
    ...checkCharts(parsed.data.blocks, `${root}/blocks`),
    ...(type === 'modal' ? checkSubmit(parsed.data, root) : []),
    ...checkResponseUrls(parsed.data.blocks, root),
  ];
}

export function isViewTooLarge(view: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(view)) > LIMITS.viewBytes;
}

function checkSubmit(view: { blocks: { type: string }[]; submit?: unknown }, root: string): string[] {
  const at = view.blocks.findIndex((block) => block.type === 'input');
  if (at === -1 || view.submit !== undefined) return [];
  const message = 'must define `submit` to use an `input` block in modals';
  return [fault(message, root, ['blocks', at, 'input'])];
}

function checkResponseUrls(blocks: readonly object[], root: string): string[] {
  const marked = JSON.stringify(blocks).split('"response_url_enabled":true').length - 1;
  return marked > 1 ? [fault('only one element can set `response_url_enabled`', root)] : [];
}
