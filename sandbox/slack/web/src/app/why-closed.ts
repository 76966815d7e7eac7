import type { Channel } from '../api/types.ts';
import type { Directory } from '../state/directory.ts';

/** What stands in place of the composer where writing is off; undefined elsewhere. */
export function whyClosed(channel: Channel, { team }: Pick<Directory, 'team'>): string | undefined {
  if (channel.is_archived) return 'This channel is archived: nothing can be written here.';
  const app = team.apps.find(({ bot_user }) => channel.kind === 'im' && channel.members.includes(bot_user));
  return app?.reads_only ? 'Sending messages to this app has been turned off.' : undefined;
}
