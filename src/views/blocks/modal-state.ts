import { z } from 'zod';

/** The value of one element of a modal, of any kind. */
const Element = z.looseObject({
  value: z.string().nullish(),
  selected_option: z.looseObject({ value: z.string() }).nullish(),
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_user: z.string().nullish(),
  selected_users: z.array(z.string()).nullish(),
  selected_channel: z.string().nullish(),
  selected_conversation: z.string().nullish(),
  selected_conversations: z.array(z.string()).nullish(),
  selected_date: z.string().nullish(),
  selected_time: z.string().nullish(),
});

const State = z.looseObject({ values: z.record(z.string(), z.record(z.string(), Element)) });

/** As many as Slack lets through in a field. */
const MOST_TYPED = 3_000;

export type Values = Record<string, string | string[] | undefined>;

/** The filled-in values by `action_id`; an empty field is undefined, a checkbox group always a list. */
export function readState(state: unknown): Values {
  const parsed = State.safeParse(state);
  if (!parsed.success) return {};
  const values: Values = {};
  for (const block of Object.values(parsed.data.values))
    for (const [actionId, element] of Object.entries(block)) values[actionId] = readElement(element);
  return values;
}

function readElement(element: z.infer<typeof Element>): string | string[] | undefined {
  const many = element.selected_options?.map((option) => option.value);
  const one =
    element.value?.slice(0, MOST_TYPED) ??
    element.selected_option?.value ??
    element.selected_user ??
    element.selected_channel ??
    element.selected_conversation ??
    element.selected_date ??
    element.selected_time;
  return many ?? element.selected_users ?? element.selected_conversations ?? one ?? undefined;
}
