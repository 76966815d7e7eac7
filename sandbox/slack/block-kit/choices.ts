import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import {
  confirm,
  id,
  items,
  optionGroup,
  overflowOption,
  placeholder,
  plainOption,
  richOption,
} from './texts.ts';

const action = { action_id: id.optional(), confirm: confirm.optional() };
const menu = { ...action, placeholder: placeholder.optional(), focus_on_load: z.boolean().optional() };
const several = { max_selected_items: z.int().min(1).optional() };
const options = items(plainOption, LIMITS.options, 1).optional();
const groups = items(optionGroup, LIMITS.options, 1).optional();

interface Choices {
  options?: { value: string }[] | undefined;
  option_groups?: { options: { value: string }[] }[] | undefined;
  initial_option?: { value: string } | undefined;
  initial_options?: { value: string }[] | undefined;
}

function offered(element: Choices): { value: string }[] {
  return element.options ?? element.option_groups?.flatMap((group) => group.options) ?? [];
}

/** One source of options, no value twice, and what is chosen at first is among them, field by field. */
function checkChoices(element: Choices, context: z.RefinementCtx): void {
  const known = offered(element);
  const refuse = (message: string, ...path: (string | number)[]): void => {
    context.addIssue({ code: 'custom', message, path });
  };
  if ((element.options === undefined) === (element.option_groups === undefined)) {
    refuse('must provide one of `options` and `option_groups`');
  }
  const values = known.map((option) => option.value);
  if (new Set(values).size < values.length) refuse('option values must be unique', 'options');
  const isOffered = (option: unknown): boolean => known.some((one) => isDeepStrictEqual(one, option));
  if (element.initial_option && !isOffered(element.initial_option)) {
    refuse('initial option must match one of the options', 'initial_option');
  }
  if (element.initial_options?.some((option) => !isOffered(option))) {
    refuse('initial options must match the options', 'initial_options');
  }
}

const conversationFilter = z
  .strictObject({
    include: items(z.enum(['im', 'mpim', 'private', 'public']), 4, 1).optional(),
    exclude_external_shared_channels: z.boolean().optional(),
    exclude_bot_users: z.boolean().optional(),
  })
  .refine((filter) => Object.keys(filter).length > 0, 'must provide at least one filter');

const staticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    ...menu,
    options,
    option_groups: groups,
    initial_option: plainOption.optional(),
  })
  .superRefine(checkChoices);

const multiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    ...menu,
    ...several,
    options,
    option_groups: groups,
    initial_options: items(plainOption, LIMITS.options, 1).optional(),
  })
  .superRefine(checkChoices);

const query = { min_query_length: z.int().min(0).optional() };

const externalSelect = z.strictObject({
  type: z.literal('external_select'),
  ...menu,
  ...query,
  initial_option: plainOption.optional(),
});

const multiExternalSelect = z.strictObject({
  type: z.literal('multi_external_select'),
  ...menu,
  ...several,
  ...query,
  initial_options: items(plainOption, LIMITS.options, 1).optional(),
});

const usersSelect = z.strictObject({
  type: z.literal('users_select'),
  ...menu,
  initial_user: id.optional(),
});

const multiUsersSelect = z.strictObject({
  type: z.literal('multi_users_select'),
  ...menu,
  ...several,
  initial_users: z.array(id).optional(),
});

const conversations = {
  default_to_current_conversation: z.boolean().optional(),
  filter: conversationFilter.optional(),
};

const conversationsSelect = z.strictObject({
  type: z.literal('conversations_select'),
  ...menu,
  ...conversations,
  initial_conversation: id.optional(),
  response_url_enabled: z.boolean().optional(),
});

const multiConversationsSelect = z.strictObject({
  type: z.literal('multi_conversations_select'),
  ...menu,
  ...several,
  ...conversations,
  initial_conversations: z.array(id).optional(),
});

const channelsSelect = z.strictObject({
  type: z.literal('channels_select'),
  ...menu,
  initial_channel: id.optional(),
  response_url_enabled: z.boolean().optional(),
});

const multiChannelsSelect = z.strictObject({
  type: z.literal('multi_channels_select'),
  ...menu,
  ...several,
  initial_channels: z.array(id).optional(),
});

export const overflow = z.strictObject({
  type: z.literal('overflow'),
  ...action,
  options: items(overflowOption, LIMITS.overflowOptions, 1),
});

const boxes = { ...action, focus_on_load: z.boolean().optional() };
const richOptions = items(richOption, LIMITS.choiceOptions, 1);

export const checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    ...boxes,
    options: richOptions,
    initial_options: richOptions.optional(),
  })
  .superRefine(checkChoices);

export const radioButtons = z
  .strictObject({
    type: z.literal('radio_buttons'),
    ...boxes,
    options: richOptions,
    initial_option: richOption.optional(),
  })
  .superRefine(checkChoices);

export const selects = [
  staticSelect,
  externalSelect,
  usersSelect,
  conversationsSelect,
  channelsSelect,
  multiStaticSelect,
  multiExternalSelect,
  multiUsersSelect,
  multiConversationsSelect,
  multiChannelsSelect,
] as const;
