import type { Control } from '../slack/world.ts';

/** A switch of the page's side panel; `begin` switches something on and answers what ends it. */
export function demoSwitch(id: string, label: string, hint: string, begin: () => () => void): Control {
  let end: (() => void) | undefined;
  return {
    id,
    label,
    hint,
    kind: 'switch',
    on: false,
    run: async (on) => {
      end?.();
      end = on ? begin() : undefined;
    },
  };
}
