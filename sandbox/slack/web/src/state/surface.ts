import type { Option, OptionGroup } from '@slack/types';
import { createContext, useContext } from 'react';
import type { Container, ElementValue, Values } from '../api/types.ts';

export type Action = ElementValue & { block_id: string; action_id: string };

export interface OptionList {
  options?: Option[];
  option_groups?: OptionGroup[];
}

/** What holds blocks: a message, a modal or a Home. Its elements read and write here. */
export interface Surface {
  container: Container;
  values: Values;
  /** Faults under fields, by block_id. */
  errors: Readonly<Record<string, string>>;
  /** `block_id/action_id` of what was pressed and is not answered yet. */
  pending: string | undefined;
  change(blockId: string, actionId: string, value: ElementValue): void;
  act(action: Action): void;
  options(blockId: string, actionId: string, query: string): Promise<OptionList>;
}

/** Where blocks are only looked at. */
const inertSurface: Surface = {
  container: { type: 'none' },
  values: {},
  errors: {},
  pending: undefined,
  change: () => undefined,
  act: () => undefined,
  options: () => Promise.resolve({ options: [] }),
};

export const SurfaceContext = createContext<Surface>(inertSurface);

export function useSurface(): Surface {
  return useContext(SurfaceContext);
}
