import { type ReactNode, useCallback, useMemo } from 'react';
import type { Container, Message, Values } from '../api/types.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { collectValues } from '../elements/collect-values.ts';
import { Mrkdwn } from '../mrkdwn/text.tsx';
import { SurfaceContext } from '../state/surface.ts';
import { useSurfaceState } from '../state/use-surface-state.ts';
import { Attachments } from './attachments.tsx';
import { Files } from './files.tsx';
import { useMessageActions } from './message-context.ts';

/** What a message says: its blocks, or its text where it has none, then attachments and files. */
export function MessageBody({ message }: { message: Message }): ReactNode {
  const { client, channel, complain } = useMessageActions();
  const container = useMemo<Container>(
    () => ({ type: 'message', channel, ts: message.ts }),
    [channel, message.ts],
  );
  const blocks = useMemo(() => message.blocks ?? [], [message.blocks]);
  const collect = useCallback((changed: Values) => collectValues(blocks, changed), [blocks]);
  const { surface } = useSurfaceState({ client, container, collect, onError: complain });
  return (
    <SurfaceContext value={surface}>
      {blocks.length > 0 ? <Blocks blocks={blocks} /> : <PlainBody message={message} />}
      {message.edited && blocks.length > 0 && <EditedMark message={message} />}
      <Attachments attachments={message.attachments ?? []} ts={message.ts} />
      <Files files={message.files ?? []} />
    </SurfaceContext>
  );
}

function PlainBody({ message }: { message: Message }): ReactNode {
  if (!message.text) return null;
  return (
    <div className="message-text">
      <Mrkdwn text={message.text} />
      {message.edited && <EditedMark message={message} />}
    </div>
  );
}

function EditedMark({ message }: { message: Message }): ReactNode {
  const at = message.edited && new Date(Number(message.edited.ts) * 1000).toLocaleString();
  return (
    <span className="edited" title={at}>
      (edited)
    </span>
  );
}
