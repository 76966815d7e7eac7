import { useCallback, useMemo, useState } from 'react';
import type { Client } from '../api/client.ts';
import type { Container } from '../api/types.ts';
import type { ElementValue, Surface, Values } from './surface.ts';

interface SurfaceOptions {
  client: Client;
  container: Container;
  /** What the elements hold in Slack's words, given what was changed so far. */
  collect: (changed: Values) => Values;
  onError: (error: string) => void;
}

/** The values, the pending press and the calls of one message, modal or Home. */
export function useSurfaceState({ client, container, collect, onError }: SurfaceOptions): {
  surface: Surface;
  values: () => Values;
  setErrors: (errors: Record<string, string>) => void;
} {
  const [changed, setChanged] = useState<Values>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [pending, setPending] = useState<string>();
  const change = useCallback((blockId: string, actionId: string, value: ElementValue) => {
    setChanged((before) => withValue(before, blockId, actionId, value));
    setErrors(({ [blockId]: _fixed, ...rest }) => rest);
  }, []);
  const surface = useMemo<Surface>(() => {
    return {
      container,
      values: changed,
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
        const now = withValue(changed, action.block_id, action.action_id, action);
        const answer = await client.act(container, action, collect(now));
        setPending(undefined);
        if (!answer.ok) onError(answer.error ?? 'the app did not answer');
      },
    };
  }, [client, container, changed, errors, pending, change, collect, onError]);
  return { surface, values: () => collect(changed), setErrors };
}

function withValue(values: Values, blockId: string, actionId: string, value: ElementValue): Values {
  return { ...values, [blockId]: { ...values[blockId], [actionId]: value } };
}
