import type { InputBlock } from '@slack/types';
import { defined } from '../../core/defined.ts';
import { LIMITS } from './limits.ts';
import { input, optionsOf, type selectInput } from './modal.ts';

/** As `selectInput`, with all choices in sight; Slack takes ten. */
export function radioInput(spec: Parameters<typeof selectInput>[0]): InputBlock {
  const options = optionsOf(spec.choices.slice(0, LIMITS.checkboxes));
  return input(spec, {
    type: 'radio_buttons',
    action_id: spec.field,
    options,
    ...defined({ initial_option: options.find(({ value }) => value === spec.initial) }),
  });
}
