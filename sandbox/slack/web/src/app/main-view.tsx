import { type ReactNode, useEffect } from 'react';
import type { Client } from '../api/client.ts';
import type { App, Channel } from '../api/types.ts';
import { HomeView } from '../home/home-view.tsx';
import { useDirectory } from '../state/directory.ts';
import type { Place } from '../state/place.ts';
import type { State } from '../state/state.ts';
import { ChannelView } from './channel-view.tsx';
import { HomeTabs } from './home-tabs.tsx';
import { MainHead } from './main-head.tsx';
import { say } from './say.ts';
import { ShortcutMenu } from './shortcut-menu.tsx';

interface MainProps {
  state: State;
  place: Place;
  client: Client;
  channel: Channel | undefined;
  onGo: (next: Partial<Place>) => void;
  onMenu: () => void;
  complain: (error: string) => void;
}

/** The middle: a conversation, or an app's Home. */
export function MainView(props: MainProps): ReactNode {
  const { state, place, channel, client, onMenu, complain } = props;
  const directory = useDirectory();
  const live = state.connection === 'live';
  const app = place.at.kind === 'home' ? directory.app(place.at.app) : appBehind(channel, props);
  const name = channel ? directory.channelName(channel) : (app?.name ?? '');
  useTitle(name, directory.team.name);
  if (channel === undefined && app === undefined) return <main className="main" />;
  return (
    <main className="main" aria-label={name}>
      <MainHead icon={iconOf(channel)} title={name} note={channel?.topic} live={live} onMenu={onMenu} />
      {app && <HomeTabs app={app} atHome={place.at.kind === 'home'} onGo={props.onGo} />}
      {channel ? (
        <ChannelView
          channel={channel}
          messages={state.messages[channel.id]}
          typed={state.typed?.channel === channel.id ? state.typed.text : undefined}
          tools={<ShortcutMenu client={client} complain={complain} />}
          onSend={(text) => say(client, directory, { channel: channel.id }, text)}
        />
      ) : (
        app && <HomeView app={app.name} view={state.homes[app.id]} client={client} onError={complain} />
      )}
    </main>
  );
}

/** The tab's title says where one is. */
function useTitle(name: string, team: string): void {
  useEffect(() => {
    document.title = [name, team].filter(Boolean).join(' · ');
  }, [name, team]);
}

function iconOf(channel: Channel | undefined): 'hash' | 'lock' | 'bot' {
  if (channel === undefined || channel.kind === 'im') return 'bot';
  return channel.kind === 'private' ? 'lock' : 'hash';
}

/** The app one writes with, in a direct message with it. */
function appBehind(channel: Channel | undefined, { state, place }: MainProps): App | undefined {
  if (channel?.kind !== 'im') return undefined;
  const apps = state.teams.find(({ id }) => id === place.team)?.apps;
  return apps?.find(({ bot_user }) => channel.members.includes(bot_user));
}
