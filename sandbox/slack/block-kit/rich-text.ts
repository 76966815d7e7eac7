import { z } from 'zod';
import { anyLength, chars, id, link } from './texts.ts';

const style = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    underline: z.boolean().optional(),
    code: z.boolean().optional(),
    highlight: z.boolean().optional(),
    client_highlight: z.boolean().optional(),
    unlink: z.boolean().optional(),
  })
  .optional();

const text = z.strictObject({ type: z.literal('text'), text: anyLength, style });
const richLink = z.strictObject({
  type: z.literal('link'),
  url: link,
  text: z.string().optional(),
  unsafe: z.boolean().optional(),
  style,
});

const inline = z.discriminatedUnion('type', [
  text,
  richLink,
  z.strictObject({ type: z.literal('user'), user_id: id, style }),
  z.strictObject({ type: z.literal('usergroup'), usergroup_id: id, style }),
  z.strictObject({ type: z.literal('channel'), channel_id: id, style }),
  z.strictObject({ type: z.literal('team'), team_id: id, style }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']), style }),
  z.strictObject({ type: z.literal('color'), value: chars(9, 1), style }),
  z.strictObject({
    type: z.literal('emoji'),
    name: anyLength,
    unicode: z.string().optional(),
    url: link.optional(),
    style,
  }),
  z.strictObject({
    type: z.literal('date'),
    timestamp: z.int(),
    format: anyLength,
    url: link.optional(),
    fallback: z.string().optional(),
    style,
  }),
]);

const border = z.union([z.literal(0), z.literal(1)]).optional();
const section = z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(inline) });

const part = z.discriminatedUnion('type', [
  section,
  z.strictObject({
    type: z.literal('rich_text_list'),
    style: z.enum(['bullet', 'ordered']),
    elements: z.array(section),
    indent: z.int().min(0).max(8).optional(),
    offset: z.int().min(0).optional(),
    border,
  }),
  z.strictObject({ type: z.literal('rich_text_quote'), elements: z.array(inline), border }),
  z.strictObject({
    type: z.literal('rich_text_preformatted'),
    elements: z.array(z.discriminatedUnion('type', [text, richLink])),
    language: z.string().optional(),
    border,
  }),
]);

export const richText = z.strictObject({
  type: z.literal('rich_text'),
  block_id: id.optional(),
  elements: z.array(part),
});
