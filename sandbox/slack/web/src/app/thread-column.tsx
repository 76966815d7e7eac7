import type { ReactNode } from 'react';
import type { Client } from '../api/client.ts';
import type { Channel, Message } from '../api/types.ts';
import { useDirectory } from '../state/directory.ts';
import { isReply } from '../state/replies.ts';
import { ThreadPane } from '../thread/thread-pane.tsx';
import { say } from './say.ts';
import { whyClosed } from './why-closed.ts';

interface ThreadColumnProps {
  ts: string;
  channel: Channel;
  messages: readonly Message[];
  client: Client;
  onClose: () => void;
}

export function ThreadColumn({ ts, channel, messages, client, onClose }: ThreadColumnProps): ReactNode {
  const directory = useDirectory();
  const name = directory.channelName(channel);
  return (
    <ThreadPane
      root={messages.find((message) => message.ts === ts)}
      replies={messages.filter((message) => isReply(message) && message.thread_ts === ts)}
      channelName={channel.kind === 'im' ? name : `#${name}`}
      closed={whyClosed(channel, directory)}
      onSend={(text) => say(client, directory, { channel: channel.id, thread: ts }, text)}
      onClose={onClose}
    />
  );
}
