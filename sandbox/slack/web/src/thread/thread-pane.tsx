import { type ReactNode, useEffect, useState } from 'react';
import type { Command, Message } from '../api/types.ts';
import { Composer } from '../composer/composer.tsx';
import { MessageList } from '../message/message-list.tsx';
import { MessageRow } from '../message/message-row.tsx';
import { IconButton } from '../ui/icon.tsx';

interface ThreadProps {
  root: Message | undefined;
  replies: readonly Message[];
  channelName: string;
  /** Why nothing can be written here, if that is so. */
  closed: string | undefined;
  onSend: (text: string) => Promise<string | undefined>;
  onClose: () => void;
}

const noReplies = (): readonly Message[] => [];
/** Slack takes no slash commands in threads, so it offers none. */
const noCommands: readonly Command[] = [];

/** A message and its replies, beside the channel. Escape closes it. */
export function ThreadPane({ root, replies, channelName, closed, onSend, onClose }: ThreadProps): ReactNode {
  useFocusBack();
  const [sent, setSent] = useState(0);
  const send = (text: string) => {
    setSent(sent + 1);
    return onSend(text);
  };
  return (
    <aside
      className="pane thread"
      aria-label="Thread"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose();
      }}
    >
      <header className="pane-head">
        <h2>Thread</h2>
        <span className="pane-note">{channelName}</span>
        <IconButton icon="x" label="Close thread" onClick={onClose} />
      </header>
      <MessageList
        label="Messages in this thread"
        messages={replies}
        repliesTo={noReplies}
        sent={sent}
        inThread
      >
        {root === undefined ? (
          <p className="empty">This message is gone.</p>
        ) : (
          <>
            <MessageRow message={root} compact={false} inThread />
            <div className="reply-count">
              <span>{countOf(replies)}</span>
            </div>
          </>
        )}
      </MessageList>
      {closed === undefined ? (
        <Composer label="Reply in thread" commands={noCommands} onSend={send} autoFocus />
      ) : (
        <p className="closed">{closed}</p>
      )}
    </aside>
  );
}

function countOf({ length }: readonly Message[]): string {
  if (length === 0) return 'No replies yet';
  return length === 1 ? '1 reply' : `${length} replies`;
}

/** Gives the focus back to where it was before the pane opened. */
function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [before]);
}
