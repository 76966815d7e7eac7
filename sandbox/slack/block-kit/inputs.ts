import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { richText } from './rich-text.ts';
import { chars, confirm, id, items, link, placeholder, plainText, webLink } from './texts.ts';

const dispatch = z
  .strictObject({
    trigger_actions_on: items(z.enum(['on_enter_pressed', 'on_character_entered']), 2, 1).optional(),
  })
  .optional();

const focusable = { action_id: id.optional(), focus_on_load: z.boolean().optional() };
const writable = { ...focusable, placeholder: placeholder.optional(), dispatch_action_config: dispatch };
const picker = { ...focusable, confirm: confirm.optional() };

export const button = z.strictObject({
  type: z.literal('button'),
  action_id: id.optional(),
  text: plainText(LIMITS.buttonText),
  value: chars(LIMITS.buttonValue).optional(),
  url: link.optional(),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: confirm.optional(),
  accessibility_label: chars(LIMITS.buttonText).optional(),
});

export const workflowButton = z.strictObject({
  type: z.literal('workflow_button'),
  action_id: id.optional(),
  text: plainText(LIMITS.buttonText),
  workflow: z.strictObject({
    trigger: z.strictObject({
      url: webLink,
      customizable_input_parameters: z
        .array(z.strictObject({ name: z.string(), value: z.string() }))
        .optional(),
    }),
  }),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: confirm.optional(),
  accessibility_label: chars(LIMITS.buttonText).optional(),
});

const length = z
  .int()
  .min(0)
  .max(LIMITS.inputText, `must be less than ${LIMITS.inputText + 1}`);

export const plainTextInput = z
  .strictObject({
    type: z.literal('plain_text_input'),
    ...writable,
    initial_value: chars(LIMITS.inputText).optional(),
    multiline: z.boolean().optional(),
    min_length: length.optional(),
    max_length: length.min(1).optional(),
  })
  .refine(
    (input) => (input.min_length ?? 0) <= (input.max_length ?? LIMITS.inputText),
    '`min_length` must not be more than `max_length`',
  );

export const emailInput = z.strictObject({
  type: z.literal('email_text_input'),
  ...writable,
  initial_value: z.string().optional(),
});

export const urlInput = z.strictObject({
  type: z.literal('url_text_input'),
  ...writable,
  initial_value: z.string().optional(),
});

const numeric = z
  .string()
  .refine((value) => value.trim() !== '' && Number.isFinite(Number(value)), 'must be a number');

export const numberInput = z
  .strictObject({
    type: z.literal('number_input'),
    ...writable,
    is_decimal_allowed: z.boolean(),
    initial_value: numeric.optional(),
    min_value: numeric.optional(),
    max_value: numeric.optional(),
  })
  .refine(
    (input) => Number(input.min_value ?? -Infinity) <= Number(input.max_value ?? Infinity),
    '`min_value` must not be more than `max_value`',
  );

export const richTextInput = z.strictObject({
  type: z.literal('rich_text_input'),
  ...writable,
  initial_value: richText.optional(),
  min_lines: z.int().min(1).max(100).optional(),
  max_lines: z.int().min(1).max(100).optional(),
});

export const fileInput = z.strictObject({
  type: z.literal('file_input'),
  action_id: id.optional(),
  filetypes: items(z.string(), 100, 1).optional(),
  max_files: z.int().min(1).max(10).optional(),
});

export const datePicker = z.strictObject({
  type: z.literal('datepicker'),
  ...picker,
  placeholder: placeholder.optional(),
  initial_date: z.iso.date('must be in the format YYYY-MM-DD').optional(),
});

export const timePicker = z.strictObject({
  type: z.literal('timepicker'),
  ...picker,
  placeholder: placeholder.optional(),
  initial_time: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be in the format HH:mm')
    .optional(),
  timezone: z.string().optional(),
});

export const dateTimePicker = z.strictObject({
  type: z.literal('datetimepicker'),
  ...picker,
  initial_date_time: z
    .int()
    .refine((value) => String(value).length === 10, 'must be 10 digits')
    .optional(),
});
