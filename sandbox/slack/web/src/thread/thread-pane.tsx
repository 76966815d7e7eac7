import { type ReactNode, useEffect, useRef } from 'react';
import type { Command, Message } from '../api/types.ts';
import { Composer } from '../composer/composer.tsx';
import { MessageList } from '../message/message-list.tsx';
import { MessageRow } from '../message/message-row.tsx';
import { IconButton } from '../ui/icon.tsx';

interface ThreadProps {
  root: Message | undefined;
  replies: readonly Message[];
  channelName: string;
  commands: readonly Command[];
  onSend: (text: string) => Promise<string | undefined>;
  onClose: () => void;
}

const noReplies = (): readonly Message[] => [];

/** A message and its replies, beside the channel. Escape closes it. */
export function ThreadPane({
  root,
  replies,
  channelName,
  commands,
  onSend,
  onClose,
}: ThreadProps): ReactNode {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    pane.current?.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementInteractions: Escape anywhere in the pane closes it
    <aside
      ref={pane}
      className="pane thread"
      aria-label="Thread"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose();
      }}
    >
      <header className="pane-head">
        <h2>Thread</h2>
        <span className="pane-note">{channelName}</span>
        <IconButton icon="x" label="Close thread" onClick={onClose} />
      </header>
      <MessageList label="Messages in this thread" messages={replies} repliesTo={noReplies} inThread>
        {root === undefined ? (
          <p className="empty">This message is gone.</p>
        ) : (
          <>
            <MessageRow message={root} compact={false} inThread />
            <div className="reply-count">
              <span>{replies.length === 1 ? '1 reply' : `${replies.length} replies`}</span>
            </div>
          </>
        )}
      </MessageList>
      <Composer label="Reply in thread" commands={commands} onSend={onSend} />
    </aside>
  );
}
