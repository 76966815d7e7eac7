import { memo, type ReactNode, useId } from 'react';
import type { Message } from '../api/types.ts';
import { useDirectory } from '../state/directory.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Icon, IconButton } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu.tsx';
import { authorOf } from './author.ts';
import { MessageBody } from './message-body.tsx';
import { useMessageActions } from './message-context.ts';
import { ThreadSummary } from './thread-summary.tsx';
import { clockTime, dateOf, fullTime, shortTime } from './time.ts';

interface RowProps {
  message: Message;
  /** Drawn without name and avatar: it follows another of the same author's. */
  compact: boolean;
  replies?: readonly Message[];
  inThread: boolean;
}

export const MessageRow = memo(function MessageRow({
  message,
  compact,
  replies = [],
  inThread,
}: RowProps): ReactNode {
  const id = useId();
  const directory = useDirectory();
  const { openThread, inspected } = useMessageActions();
  const author = authorOf(message, directory);
  const classes = [
    'message',
    compact && 'compact',
    message.ephemeral && 'ephemeral',
    inspected === message.ts && 'inspected',
  ].filter(Boolean);
  return (
    <article
      className={classes.join(' ')}
      aria-labelledby={`${id}-author ${id}-time`}
      tabIndex={-1}
      data-ts={message.ts}
    >
      <div className="message-side">
        {compact ? (
          <span className="side-time" aria-hidden="true">
            {shortTime(message.ts)}
          </span>
        ) : (
          <Avatar id={author.id} name={author.name} isApp={author.isApp} />
        )}
      </div>
      <div className="message-main">
        {message.ephemeral && (
          <p className="only-you">
            <Icon name="eye" />
            Only visible to you
          </p>
        )}
        <div className={compact ? 'visually-hidden' : 'message-head'}>
          <bdi id={`${id}-author`} className="author">
            {author.name}
          </bdi>
          {author.isApp && <span className="app-mark">APP</span>}
          <time
            id={`${id}-time`}
            dateTime={dateOf(message.ts).toISOString()}
            title={fullTime(message.ts)}
            className="time"
          >
            {clockTime(message.ts)}
          </time>
        </div>
        <MessageBody message={message} />
        {!inThread && <ThreadSummary replies={replies} onOpen={() => openThread(message.ts)} />}
      </div>
      <Toolbar message={message} inThread={inThread} />
    </article>
  );
});

function Toolbar({ message, inThread }: { message: Message; inThread: boolean }): ReactNode {
  const { client, channel, openThread, inspect, complain } = useMessageActions();
  const { team } = useDirectory();
  const shortcuts = team.apps.flatMap((app) => app.shortcuts.filter(({ type }) => type === 'message'));
  const run = async (callbackId: string): Promise<void> => {
    const answer = await client.shortcut(callbackId, { channel, ts: message.ts });
    if (!answer.ok) complain(answer.error ?? 'the app did not answer');
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Message actions">
      {!inThread && !message.ephemeral && (
        <IconButton
          icon="message-square-text"
          label="Reply in thread"
          onClick={() => openThread(message.ts)}
        />
      )}
      <IconButton icon="braces" label="Inspect message" onClick={() => inspect(message)} />
      {shortcuts.length > 0 && !message.ephemeral && (
        <MenuButton
          label="More message actions"
          align="end"
          items={shortcuts.map(({ name, callback_id }) => ({
            key: callback_id,
            content: name,
            onSelect: () => void run(callback_id),
          }))}
        >
          <Icon name="ellipsis" />
        </MenuButton>
      )}
    </div>
  );
}
