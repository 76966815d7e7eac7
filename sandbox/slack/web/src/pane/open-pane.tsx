import type { EntityMetadata } from '@slack/types';
import type { ReactNode } from 'react';
import { useMessageActions } from '../message/message-context.ts';

/** Opens the pane of a work object under a message. */
export function OpenPane({ entity, ts }: { entity: EntityMetadata; ts: string }): ReactNode {
  const { client, channel, complain } = useMessageActions();
  const title = entity.entity_payload.attributes.title.text;
  const open = async (): Promise<void> => {
    const { ok, error } = await client.openPane(channel, ts, entity.app_unfurl_url ?? entity.url);
    if (!ok) complain(error ?? 'not_opened');
  };
  return (
    <button type="button" className="button button-small open-pane" onClick={() => void open()}>
      Details of {title}
    </button>
  );
}
