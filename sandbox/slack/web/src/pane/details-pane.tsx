import type { EntityActionButton, EntityCustomField, EntityMetadata } from '@slack/types';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Client } from '../api/client.ts';
import type { Pane } from '../api/types.ts';
import { SafeLink } from '../mrkdwn/inline.tsx';
import { Mrkdwn } from '../mrkdwn/text.tsx';
import { IconButton } from '../ui/icon.tsx';

interface DetailsProps {
  pane: Pane;
  client: Client;
  onError: (error: string) => void;
}

/** A work object beside the conversation: its card until the app has answered, then what the app shows. Escape closes. */
export function DetailsPane({ pane, client, onError }: DetailsProps): ReactNode {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const { entity, details, error } = pane;
  const { title, display_type: kind } = entity.entity_payload.attributes;
  const close = (): void => void client.closePane();
  return (
    <aside
      ref={ref}
      tabIndex={-1}
      className="pane details"
      aria-label={title.text}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) close();
      }}
    >
      <header className="pane-head">
        <h2>{title.text}</h2>
        <span className="pane-note">{kind}</span>
        <IconButton icon="x" label="Close details" onClick={close} />
      </header>
      {error ? (
        <div className="details-body" role="alert">
          <strong>{error.custom_title ?? 'This could not be shown'}</strong>
          <Mrkdwn text={error.custom_message ?? ''} />
        </div>
      ) : (
        <EntityView entity={details ?? entity} pane={pane} client={client} onError={onError} />
      )}
    </aside>
  );
}

function EntityView({ entity, pane, client, onError }: DetailsProps & { entity: EntityMetadata }): ReactNode {
  const { custom_fields: fields = [], actions, attributes } = entity.entity_payload;
  return (
    <div className="details-body" aria-busy={pane.details === undefined}>
      <SafeLink url={entity.url}>{attributes.display_id ?? attributes.title.text}</SafeLink>
      <dl>
        {fields.map((field) => (
          <div key={field.key}>
            <dt>{field.label}</dt>
            <dd>
              <FieldValue field={field} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="details-actions">
        {(actions?.primary_actions ?? []).map((action) => (
          <ActionButton key={action.action_id} action={action} client={client} onError={onError} />
        ))}
      </div>
    </div>
  );
}

function FieldValue({ field }: { field: EntityCustomField }): ReactNode {
  if (field.type === 'slack#/types/timestamp')
    return new Date(Number(field.value) * 1000).toLocaleString([], {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
  const text = String(field.value);
  return field.tag_color ? <span className={`tag tag-${field.tag_color}`}>{text}</span> : text;
}

function ActionButton({
  action,
  client,
  onError,
}: Omit<DetailsProps, 'pane'> & { action: EntityActionButton }): ReactNode {
  const { text, action_id, value } = action;
  const press = async (): Promise<void> => {
    const { ok, error } = await client.act(
      { type: 'pane' },
      { type: 'button', block_id: 'entity', action_id, text: { type: 'plain_text', text }, value },
      {},
    );
    if (!ok) onError(error ?? 'not_sent');
  };
  return (
    <button type="button" className="button button-small" onClick={() => void press()}>
      {text}
    </button>
  );
}
