import type { ReactNode } from 'react';
import type { Channel } from '../api/types.ts';
import { type Directory, otherMember, useDirectory } from '../state/directory.ts';
import type { Place } from '../state/place.ts';
import type { Unread } from '../state/state.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Icon } from '../ui/icon.tsx';
import { UserMenu } from './user-menu.tsx';

interface SidebarProps {
  place: Place;
  unread: Readonly<Record<string, Unread>>;
  onGo: (next: Partial<Place>) => void;
}

/** Channels, direct messages and apps of the workspace, and whose eyes one looks through. */
export function Sidebar({ place, unread, onGo }: SidebarProps): ReactNode {
  const directory = useDirectory();
  const { team, me } = directory;
  const mine = team.channels.filter(({ members }) => members.includes(me));
  const open = (id: string): void => onGo({ at: { kind: 'channel', id } });
  const row = (channel: Channel): ReactNode => (
    <ChannelRow
      key={channel.id}
      channel={channel}
      current={place.at.kind === 'channel' && place.at.id === channel.id}
      unread={unread[channel.id]}
      onOpen={() => open(channel.id)}
    />
  );
  return (
    <div className="sidebar">
      <header className="sidebar-head">
        <strong>{team.name}</strong>
        <span>{team.domain}</span>
      </header>
      <nav className="sidebar-lists" aria-label="Conversations">
        <Group title="Channels">{mine.filter(({ kind }) => kind !== 'im').map(row)}</Group>
        <Group title="Direct messages">{mine.filter(({ kind }) => kind === 'im').map(row)}</Group>
        <Group title="Apps">
          {team.apps.map((app) => (
            <li key={app.id}>
              <button
                type="button"
                className="side-row"
                aria-current={place.at.kind === 'home' && place.at.app === app.id ? 'page' : undefined}
                onClick={() => onGo({ at: { kind: 'home', app: app.id } })}
              >
                <Avatar id={app.id} name={app.name} isApp />
                <span className="side-name">{app.name}</span>
                <span className="side-note">Home</span>
              </button>
            </li>
          ))}
        </Group>
      </nav>
      <UserMenu onPick={(user) => onGo({ user, at: keepPlace(directory, place, user) })} />
    </div>
  );
}

/** A public channel stays open when the person changes; anything private does not. */
function keepPlace(directory: Directory, place: Place, user: string): Place['at'] {
  if (place.at.kind === 'home') return place.at;
  const channel = directory.channel(place.at.id);
  if (channel?.members.includes(user)) return place.at;
  const first = directory.team.channels.find(
    ({ kind, members }) => kind === 'public' && members.includes(user),
  );
  return first ? { kind: 'channel', id: first.id } : place.at;
}

function Group({ title, children }: { title: string; children: ReactNode[] }): ReactNode {
  if (children.length === 0) return null;
  return (
    <section className="side-group" aria-label={title}>
      <h2>{title}</h2>
      <ul>{children}</ul>
    </section>
  );
}

interface RowProps {
  channel: Channel;
  current: boolean;
  unread: Unread | undefined;
  onOpen: () => void;
}

function ChannelRow({ channel, current, unread, onOpen }: RowProps): ReactNode {
  const directory = useDirectory();
  const name = directory.channelName(channel);
  const { messages = 0, mentions = 0 } = unread ?? {};
  const counted = channel.kind === 'im' ? messages : mentions;
  return (
    <li>
      <button
        type="button"
        className={`side-row${messages > 0 ? ' has-unread' : ''}`}
        aria-current={current ? 'page' : undefined}
        aria-label={messages > 0 ? `${name}, ${counted > 0 ? `${counted} ` : ''}unread` : undefined}
        onClick={onOpen}
      >
        <ChannelSign channel={channel} />
        <span className="side-name" dir="auto">
          {name}
        </span>
        {channel.is_archived && <span className="side-note">archived</span>}
        {counted > 0 && <span className="badge" data-count={counted} />}
      </button>
    </li>
  );
}

function ChannelSign({ channel }: { channel: Channel }): ReactNode {
  const directory = useDirectory();
  if (channel.kind !== 'im') return <Icon name={channel.kind === 'private' ? 'lock' : 'hash'} />;
  const other = otherMember(channel, directory.me);
  return (
    <Avatar
      id={directory.appOfBot(other)?.id ?? other}
      name={directory.channelName(channel)}
      isApp={directory.appOfBot(other) !== undefined}
    />
  );
}
