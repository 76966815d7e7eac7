import type { ChannelMove } from '../../records/channels.ts';

/** Id of an episode after its move. Messages in another channel need ids of their own. @param key key of its subject there */
export function renameEpisode(id: string, key: string, { isSameChannel }: ChannelMove): string {
  return isSameChannel ? id : `${key} ${id.split(' ').slice(1).join(' ')}`;
}

/** Id of an outage after its move. */
export function renameOutage(id: string, { isSameChannel, to }: ChannelMove): string {
  return isSameChannel ? id : `${id} ${to}`;
}
