import type { Confirm } from '@slack/types';
import { useContext } from 'react';
import type { ElementValue } from '../api/types.ts';
import { useSurface } from '../state/surface.ts';
import { ConfirmContext } from '../ui/confirm.tsx';
import { type AnyElement, initialValue } from './initial-value.ts';

/** What an input block tells the element it holds. */
export interface Field {
  id: string;
  labelId: string;
  describedBy: string | undefined;
  invalid: boolean;
  required: boolean;
  /** Whether a change is sent at once (`dispatch_action`). */
  dispatch: boolean;
}

export interface ElementProps<E> {
  element: E;
  blockId: string;
  field?: Field | undefined;
}

export interface ElementState {
  value: ElementValue;
  pending: boolean;
  /** Keeps the value; where the element answers changes, sends it too (asking first if it has a `confirm`). */
  set(value: Record<string, unknown>): void;
  /** Keeps the value and sends nothing: while someone is still typing. */
  keep(value: Record<string, unknown>): void;
  /** Sends an action with this payload, after the `confirm`. */
  act(payload: Record<string, unknown>): void;
}

export function useElement(props: ElementProps<{ type: string }>): ElementState {
  const surface = useSurface();
  const confirm = useContext(ConfirmContext);
  const element: AnyElement = { ...props.element };
  const { blockId, field } = props;
  const actionId = element.action_id ?? '';
  const value = surface.values[blockId]?.[actionId] ?? initialValue(element) ?? { type: element.type };
  const keep = (next: Record<string, unknown>): void => {
    surface.change(blockId, actionId, { ...next, type: element.type });
  };
  // Without a question the press is pending before the next event: a double click is one press.
  const whenAgreed = async (then: () => void): Promise<void> => {
    if (element.confirm === undefined || (await confirm(element.confirm as Confirm))) then();
  };
  const send = (payload: Record<string, unknown>): void => {
    surface.act({ ...payload, type: element.type, block_id: blockId, action_id: actionId });
  };
  return {
    value,
    pending: surface.pending === `${blockId}/${actionId}`,
    keep,
    set: (next) => {
      if (field !== undefined && !field.dispatch) return keep(next);
      void whenAgreed(() => {
        keep(next);
        send(next);
      });
    },
    act: (payload) => void whenAgreed(() => send(payload)),
  };
}

/** The attributes that tie a control to its field's label, hint and fault. */
export function fieldAttributes(field: Field | undefined, fallbackLabel: string): Record<string, unknown> {
  if (field === undefined) return { 'aria-label': fallbackLabel };
  return {
    id: field.id,
    'aria-describedby': field.describedBy,
    'aria-invalid': field.invalid || undefined,
    'aria-required': field.required || undefined,
  };
}
