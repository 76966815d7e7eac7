import { createContext, useContext } from 'react';
import type { App, Channel, Team, User } from '../api/types.ts';

/** Who and what the ids of the current team mean. */
export interface Directory {
  user(id: string): User | undefined;
  app(id: string): App | undefined;
  appOfBot(userId: string): App | undefined;
  channel(id: string): Channel | undefined;
  /** How a conversation is called from where the reader stands. */
  channelName(channel: Channel): string;
  team: Team;
  me: string;
  openChannel(id: string): void;
}

export function createDirectory(team: Team, me: string, openChannel: (id: string) => void): Directory {
  const users = new Map(team.users.map((user) => [user.id, user]));
  const channels = new Map(team.channels.map((channel) => [channel.id, channel]));
  const apps = new Map(team.apps.map((app) => [app.id, app]));
  const bots = new Map(team.apps.map((app) => [app.bot_user, app]));
  return {
    team,
    me,
    openChannel,
    user: (id) => users.get(id),
    app: (id) => apps.get(id),
    appOfBot: (id) => bots.get(id),
    channel: (id) => channels.get(id),
    channelName: (channel) => {
      if (channel.kind !== 'im') return channel.name;
      const other = otherMember(channel, me);
      return bots.get(other)?.name ?? users.get(other)?.real_name ?? channel.name;
    },
  };
}

/** The other side of a direct message; oneself where there is nobody else. */
export function otherMember(channel: Channel, me: string): string {
  return channel.members.find((member) => member !== me) ?? channel.user ?? me;
}

export const DirectoryContext = createContext<Directory | undefined>(undefined);

export function useDirectory(): Directory {
  const directory = useContext(DirectoryContext);
  if (directory === undefined) throw new Error('useDirectory needs a DirectoryContext around it');
  return directory;
}
