import { z } from 'zod';
import { LIMITS } from './limits.ts';

/** A string of `min` to `max` code points; Slack counts what it is sent, entities such as &amp; included. */
export function chars(max: number, min = 0) {
  return z.string().superRefine((value, context) => {
    const length = [...value].length;
    if (length > max)
      context.addIssue({ code: 'custom', message: `must be less than ${max + 1} characters` });
    if (length < min)
      context.addIssue({ code: 'custom', message: `must be more than ${min - 1} characters` });
  });
}

/** A string that is not empty. */
export const anyLength = z.string().min(1, 'must be more than 0 characters');

export function items<T extends z.ZodType>(item: T, max: number, min = 0) {
  return z.array(item).superRefine((list, context) => {
    if (list.length > max) context.addIssue({ code: 'custom', message: `no more than ${max} items allowed` });
    if (list.length < min) {
      context.addIssue({ code: 'custom', message: `must provide at least ${min} items` });
    }
  });
}

export function plainText(max: number) {
  return z.strictObject({
    type: z.literal('plain_text'),
    text: chars(max, 1),
    emoji: z.boolean().optional(),
  });
}

export function mrkdwn(max: number) {
  return z.strictObject({
    type: z.literal('mrkdwn'),
    text: chars(max, 1),
    verbatim: z.boolean().optional(),
  });
}

export function anyText(max: number) {
  return z.discriminatedUnion('type', [plainText(max), mrkdwn(max)]);
}

export const id = chars(LIMITS.id, 1);

/** An absolute address; Slack also takes its own schemes such as slack:// for links. */
export const link = chars(LIMITS.url, 1).refine((value) => URL.canParse(value), 'must be a valid URL');

export const webLink = chars(LIMITS.url, 1).refine(
  (value) => /^https?:\/\//.test(value) && URL.canParse(value),
  'must be a valid URL',
);

export const secureLink = chars(LIMITS.url, 1).refine(
  (value) => value.startsWith('https://') && URL.canParse(value),
  'must be a valid HTTPS URL',
);

export const confirm = z.strictObject({
  title: plainText(LIMITS.confirmTitle).optional(),
  text: anyText(LIMITS.confirmText),
  confirm: plainText(LIMITS.confirmButton).optional(),
  deny: plainText(LIMITS.confirmButton).optional(),
  style: z.enum(['primary', 'danger']).optional(),
});

export const placeholder = plainText(LIMITS.placeholder);

const optionParts = {
  value: chars(LIMITS.optionValue, 1),
  description: plainText(LIMITS.optionDescription).optional(),
};

/** An option of a select menu. */
export const plainOption = z.strictObject({ text: plainText(LIMITS.optionText), ...optionParts });

/** An option of checkboxes or radio buttons, whose texts may be mrkdwn. */
export const richOption = z.strictObject({
  text: anyText(LIMITS.optionText),
  value: optionParts.value,
  description: anyText(LIMITS.optionDescription).optional(),
});

export const overflowOption = z.strictObject({
  text: plainText(LIMITS.optionText),
  ...optionParts,
  url: link.optional(),
});

export const optionGroup = z.strictObject({
  label: plainText(LIMITS.optionText),
  options: items(plainOption, LIMITS.options, 1),
});
