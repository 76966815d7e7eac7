import { useCallback, useMemo, useState } from 'react';
import type { Client } from '../api/client.ts';
import type { Container, ElementValue, Values } from '../api/types.ts';
import type { Surface } from './surface.ts';

interface SurfaceOptions {
  client: Client;
  container: Container;
  /** What the elements hold already, as the server knows it. */
  held?: Values | undefined;
  /** What the elements hold in Slack's words, given what was changed so far. */
  collect: (changed: Values) => Values;
  onError: (error: string) => void;
}

/** The values, the pending press and the calls of one message, modal or Home. */
export function useSurfaceState({ client, container, held, collect, onError }: SurfaceOptions): {
  surface: Surface;
  values: () => Values;
  setErrors: (errors: Record<string, string>) => void;
} {
  const [changed, setChanged] = useState<Values>({});
  const values = useMemo(() => overlaid(held ?? {}, changed), [held, changed]);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [pending, setPending] = useState<string>();
  const change = useCallback((blockId: string, actionId: string, value: ElementValue) => {
    setChanged((before) => withValue(before, blockId, actionId, value));
    setErrors(({ [blockId]: _fixed, ...rest }) => rest);
  }, []);
  const surface = useMemo<Surface>(() => {
    return {
      container,
      values,
      errors,
      pending,
      change,
      options: async (blockId, actionId, query) => {
        const answer = await client.options(container, blockId, actionId, query);
        if (answer.error !== undefined) throw new Error(answer.error);
        return answer;
      },
      act: async (action) => {
        setPending(`${action.block_id}/${action.action_id}`);
        const now = withValue(values, action.block_id, action.action_id, action);
        const answer = await client.act(container, action, collect(now));
        setPending(undefined);
        if (!answer.ok) onError(answer.error ?? 'the app did not answer');
      },
    };
  }, [client, container, values, errors, pending, change, collect, onError]);
  return { surface, values: () => collect(values), setErrors };
}

/** What was changed here, over what the server knows. */
function overlaid(held: Values, changed: Values): Values {
  const blocks = Object.keys({ ...held, ...changed });
  return Object.fromEntries(blocks.map((id) => [id, { ...held[id], ...changed[id] }]));
}

function withValue(values: Values, blockId: string, actionId: string, value: ElementValue): Values {
  return { ...values, [blockId]: { ...values[blockId], [actionId]: value } };
}
