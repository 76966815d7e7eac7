import { type ReactNode, useMemo, useState } from 'react';
import type { Message, Team } from '../api/types.ts';
import { Inspector } from '../inspector/inspector.tsx';
import { MessageContext } from '../message/message-context.ts';
import { ModalStack } from '../modal/modal-stack.tsx';
import { createDirectory, DirectoryContext } from '../state/directory.ts';
import type { Place } from '../state/place.ts';
import { useTheme } from '../state/theme.ts';
import type { WorkspaceModel } from '../state/use-workspace.ts';
import { Announcer } from './announcer.tsx';
import { MainView } from './main-view.tsx';
import { Rail } from './rail.tsx';
import { Sidebar } from './sidebar.tsx';
import { ThreadColumn } from './thread-column.tsx';
import { Toast } from './toast.tsx';
import { useInspector } from './use-inspector.ts';

interface ShellProps extends WorkspaceModel {
  team: Team;
  place: Place;
}

/** The page's columns: workspaces, conversations, the open one, its thread, the inspector. */
export function Shell({ state, place, client, go, team }: ShellProps): ReactNode {
  const [theme, turnTheme] = useTheme();
  const [sidebarOpen, setSidebarOpen] = useState(false);
  const [complaint, complain] = useState<string>();
  const inspector = useInspector();
  const directory = useMemo(
    () => createDirectory(team, place.user, (id) => go({ at: { kind: 'channel', id } })),
    [team, place.user, go],
  );
  const channel = place.at.kind === 'channel' ? directory.channel(place.at.id) : undefined;
  const messages = channel && state.messages[channel.id];
  const actions = useMemo(() => {
    return {
      client,
      channel: channel?.id ?? '',
      openThread: (thread: string) => go({ thread }),
      inspect: (message: Message) => inspector.show(message.ts),
      inspected: inspector.open ? inspector.ts : undefined,
      complain,
    };
  }, [client, channel, go, inspector.show, inspector.open, inspector.ts]);
  const leave = (next: Partial<Place>): void => {
    setSidebarOpen(false);
    go(next);
  };
  const classes = [
    'shell',
    place.thread && 'with-thread',
    inspector.open && 'with-inspector',
    sidebarOpen && 'sidebar-open',
  ];
  return (
    <DirectoryContext value={directory}>
      <MessageContext value={actions}>
        <div className={classes.filter(Boolean).join(' ')}>
          <div className="edge">
            <Rail
              teams={state.teams}
              current={team.id}
              theme={theme}
              inspecting={inspector.open}
              onTeam={(id) => leave(firstOf(state.teams, id))}
              onTheme={turnTheme}
              onInspector={inspector.toggle}
            />
            <Sidebar place={place} unread={state.unread} onGo={leave} />
          </div>
          {sidebarOpen && (
            <button
              type="button"
              className="scrim"
              aria-label="Close side bar"
              onClick={() => setSidebarOpen(false)}
            />
          )}
          <MainView
            state={state}
            place={place}
            client={client}
            channel={channel}
            onGo={leave}
            onMenu={() => setSidebarOpen(true)}
            complain={complain}
          />
          {channel && place.thread && (
            <ThreadColumn
              key={place.thread}
              ts={place.thread}
              channel={channel}
              messages={messages ?? []}
              client={client}
              onClose={() => go({ thread: undefined })}
            />
          )}
          {inspector.open && (
            <Inspector
              message={messages?.find(({ ts }) => ts === inspector.ts)}
              deliveries={state.deliveries}
              calls={state.calls}
              controls={state.controls}
              onClose={inspector.toggle}
            />
          )}
        </div>
        <ModalStack views={state.views} client={client} app={team.apps[0]?.name ?? 'App'} />
        <Toast text={complaint} onClose={() => complain(undefined)} />
        <Announcer news={state.news} />
      </MessageContext>
    </DirectoryContext>
  );
}

/** Another workspace is entered as its first person, in its first channel. */
function firstOf(teams: readonly Team[], id: string): Partial<Place> {
  const team = teams.find((one) => one.id === id);
  const user = team?.users.find(({ is_bot }) => !is_bot);
  const channel = team?.channels.find(({ members }) => user && members.includes(user.id));
  return {
    team: id,
    ...(user && { user: user.id }),
    ...(channel && { at: { kind: 'channel', id: channel.id } }),
  };
}
