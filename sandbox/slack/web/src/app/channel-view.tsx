import { type ReactNode, useCallback, useMemo } from 'react';
import type { Channel, Message } from '../api/types.ts';
import { Composer } from '../composer/composer.tsx';
import { MessageList } from '../message/message-list.tsx';
import { useDirectory } from '../state/directory.ts';
import { Icon } from '../ui/icon.tsx';

interface ChannelProps {
  channel: Channel;
  messages: readonly Message[] | undefined;
  onSend: (text: string) => Promise<string | undefined>;
}

/** A conversation: its messages and where one answers. */
export function ChannelView({ channel, messages = [], onSend }: ChannelProps): ReactNode {
  const directory = useDirectory();
  const name = directory.channelName(channel);
  const title = channel.kind === 'im' ? name : `#${name}`;
  const byThread = useMemo(
    () => Map.groupBy(messages.filter(isReply), ({ thread_ts = '' }) => thread_ts),
    [messages],
  );
  const repliesTo = useCallback((ts: string): readonly Message[] => byThread.get(ts) ?? none, [byThread]);
  const roots = messages.filter((message) => !isReply(message) || message.subtype === 'thread_broadcast');
  return (
    <>
      <MessageList key={channel.id} label={`Messages in ${title}`} messages={roots} repliesTo={repliesTo}>
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
        </div>
      </MessageList>
      {channel.is_archived ? (
        <p className="archived">This channel is archived: nothing can be written here.</p>
      ) : (
        <Composer
          key={`write-${channel.id}`}
          label={`Message ${title}`}
          commands={directory.team.commands}
          onSend={onSend}
          autoFocus
        />
      )}
    </>
  );
}

const none: readonly Message[] = [];

/** Whether a message stands in a thread below another. */
export function isReply({ ts, thread_ts }: Message): boolean {
  return thread_ts !== undefined && thread_ts !== ts;
}
