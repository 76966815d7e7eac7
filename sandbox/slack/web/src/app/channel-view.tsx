import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { Channel, Message } from '../api/types.ts';
import { Composer } from '../composer/composer.tsx';
import { MessageList } from '../message/message-list.tsx';
import { useDirectory } from '../state/directory.ts';
import { isReply } from '../state/replies.ts';
import { Icon } from '../ui/icon.tsx';
import { whyClosed } from './why-closed.ts';

interface ChannelProps {
  channel: Channel;
  messages: readonly Message[] | undefined;
  /** Text that a guide types. */
  typed: string | undefined;
  tools: ReactNode;
  onSend: (text: string) => Promise<string | undefined>;
}

/** A conversation: its messages and where one answers. */
export function ChannelView({ channel, messages = none, typed, tools, onSend }: ChannelProps): ReactNode {
  const directory = useDirectory();
  const [sent, setSent] = useState(0);
  const name = directory.channelName(channel);
  const title = channel.kind === 'im' ? name : `#${name}`;
  const byThread = useMemo(
    () => Map.groupBy(messages.filter(isReply), ({ thread_ts = '' }) => thread_ts),
    [messages],
  );
  const repliesTo = useCallback((ts: string): readonly Message[] => byThread.get(ts) ?? none, [byThread]);
  const closed = whyClosed(channel, directory);
  // Another list would be measured anew, with each change anywhere on the page.
  const roots = useMemo(
    () => messages.filter((message) => !isReply(message) || message.subtype === 'thread_broadcast'),
    [messages],
  );
  return (
    <>
      <MessageList
        key={channel.id}
        label={`Messages in ${title}`}
        messages={roots}
        repliesTo={repliesTo}
        sent={sent}
      >
        <div className="channel-start">
          <span className="channel-sign" aria-hidden="true">
            <Icon name={channel.kind === 'im' ? 'at-sign' : channel.kind === 'private' ? 'lock' : 'hash'} />
          </span>
          <h2>{title}</h2>
          <p>
            {channel.kind === 'im'
              ? `Only you and ${name} see this.`
              : channel.topic || `This is where ${title} begins.`}
          </p>
          {closed === undefined && directory.team.commands.length > 0 && (
            <p>
              Type <kbd>/</kbd> to see what you can ask for.
            </p>
          )}
        </div>
      </MessageList>
      {closed === undefined ? (
        <Composer
          key={`write-${channel.id}`}
          label={`Message ${title}`}
          commands={directory.team.commands}
          typed={typed}
          tools={tools}
          onSend={(text) => {
            setSent(sent + 1);
            return onSend(text);
          }}
          autoFocus
        />
      ) : (
        <p className="closed">{closed}</p>
      )}
    </>
  );
}

const none: readonly Message[] = [];
