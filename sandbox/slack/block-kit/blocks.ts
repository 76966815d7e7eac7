import { z } from 'zod';
import { dataVisualization } from './charts.ts';
import { checkboxes, overflow, radioButtons, selects } from './choices.ts';
import {
  button,
  datePicker,
  dateTimePicker,
  emailInput,
  fileInput,
  numberInput,
  plainTextInput,
  richTextInput,
  timePicker,
  urlInput,
  workflowButton,
} from './inputs.ts';
import { LIMITS } from './limits.ts';
import { imageBlock, imageElement } from './pictures.ts';
import { plan, taskCard } from './plans.ts';
import { richText } from './rich-text.ts';
import { dataTable, table } from './tables.ts';
import { anyText, chars, id, items, mrkdwn, plainText, secureLink, webLink } from './texts.ts';

const block_id = id.optional();

const section = z
  .strictObject({
    type: z.literal('section'),
    block_id,
    text: anyText(LIMITS.text).optional(),
    fields: items(anyText(LIMITS.field), LIMITS.fields, 1).optional(),
    accessory: z
      .discriminatedUnion('type', [
        button,
        workflowButton,
        imageElement,
        overflow,
        checkboxes,
        radioButtons,
        datePicker,
        timePicker,
        ...selects,
      ])
      .optional(),
    expand: z.boolean().optional(),
  })
  .refine(
    (block) => block.text !== undefined || block.fields !== undefined,
    'must provide one of `text` and `fields`',
  );

const actions = z.strictObject({
  type: z.literal('actions'),
  block_id,
  elements: items(
    z.discriminatedUnion('type', [
      button,
      workflowButton,
      overflow,
      checkboxes,
      radioButtons,
      datePicker,
      timePicker,
      dateTimePicker,
      richTextInput,
      ...selects,
    ]),
    LIMITS.actionsElements,
    1,
  ),
});

const context = z.strictObject({
  type: z.literal('context'),
  block_id,
  elements: items(
    z.discriminatedUnion('type', [imageElement, plainText(LIMITS.text), mrkdwn(LIMITS.text)]),
    LIMITS.contextElements,
    1,
  ),
});

const inputParts = {
  type: z.literal('input'),
  block_id,
  label: plainText(LIMITS.inputLabel),
  hint: plainText(LIMITS.inputLabel).optional(),
  optional: z.boolean().optional(),
  dispatch_action: z.boolean().optional(),
};

const inputElements = [
  plainTextInput,
  emailInput,
  urlInput,
  numberInput,
  richTextInput,
  checkboxes,
  radioButtons,
  datePicker,
  timePicker,
  dateTimePicker,
  ...selects,
] as const;

const input = z.strictObject({ ...inputParts, element: z.discriminatedUnion('type', inputElements) });
const modalInput = z.strictObject({
  ...inputParts,
  element: z.discriminatedUnion('type', [...inputElements, fileInput]),
});

const header = z.strictObject({ type: z.literal('header'), block_id, text: plainText(LIMITS.header) });
const divider = z.strictObject({ type: z.literal('divider'), block_id });

const alert = z.strictObject({
  type: z.literal('alert'),
  block_id,
  text: anyText(LIMITS.alertText),
  level: z.enum(['default', 'info', 'warning', 'error', 'success']).optional(),
});

const markdown = z.strictObject({ type: z.literal('markdown'), block_id, text: chars(LIMITS.markdown, 1) });

const video = z.strictObject({
  type: z.literal('video'),
  block_id,
  alt_text: chars(LIMITS.videoWord, 1),
  title: plainText(LIMITS.videoWord),
  title_url: secureLink.optional(),
  thumbnail_url: webLink,
  video_url: secureLink,
  author_name: chars(LIMITS.videoAuthor).optional(),
  description: plainText(LIMITS.videoWord).optional(),
  provider_name: chars(LIMITS.videoAuthor).optional(),
  provider_icon_url: webLink.optional(),
});

const everywhere = [section, actions, context, header, divider, imageBlock, richText, video] as const;

/** Which blocks may stand where. A `file` block only ever comes from Slack, never from an app. */
export const messageBlock = z.discriminatedUnion('type', [
  ...everywhere,
  input,
  table,
  dataTable,
  dataVisualization,
  plan,
  taskCard,
  markdown,
]);
export const modalBlock = z.discriminatedUnion('type', [...everywhere, modalInput, alert]);
export const homeBlock = z.discriminatedUnion('type', [...everywhere, input, dataVisualization]);
