import { type ReactNode, useMemo, useState } from 'react';
import type { Team } from '../api/types.ts';
import { Inspector } from '../inspector/inspector.tsx';
import { type MessageActions, MessageContext } from '../message/message-context.ts';
import { ModalStack } from '../modal/modal-stack.tsx';
import { DetailsPane } from '../pane/details-pane.tsx';
import { createDirectory, DirectoryContext } from '../state/directory.ts';
import type { Place } from '../state/place.ts';
import type { WorkspaceModel } from '../state/use-workspace.ts';
import { Announcer } from './announcer.tsx';
import { Edge, useEdge } from './edge.tsx';
import { MainView } from './main-view.tsx';
import { ThreadColumn } from './thread-column.tsx';
import { Toast } from './toast.tsx';
import { useInspector } from './use-inspector.ts';

interface ShellProps extends WorkspaceModel {
  team: Team;
  place: Place;
}

/** The page: its columns, and what lies over them. */
export function Shell({ team, ...model }: ShellProps): ReactNode {
  const { state, place, client, go } = model;
  const [complaint, complain] = useState<string>();
  const directory = useMemo(
    () => createDirectory(team, place.user, (id) => go({ at: { kind: 'channel', id } })),
    [team, place.user, go],
  );
  return (
    <DirectoryContext value={directory}>
      <Columns {...model} team={team} complain={complain} />
      <ModalStack views={state.views} client={client} app={team.apps[0]?.name ?? 'App'} />
      <Toast text={complaint} onClose={() => complain(undefined)} />
      <Announcer news={state.news} />
    </DirectoryContext>
  );
}

/** Workspaces and conversations, the open one, its thread, the inspector. */
function Columns({
  state,
  place,
  client,
  go,
  team,
  complain,
}: ShellProps & { complain: (error: string) => void }): ReactNode {
  const edge = useEdge();
  const inspector = useInspector();
  const id = place.at.kind === 'channel' ? place.at.id : '';
  const channel = team.channels.find((one) => one.id === id);
  const messages = state.messages[id] ?? [];
  const actions = useMemo<MessageActions>(() => {
    return {
      client,
      channel: id,
      openThread: (thread) => go({ thread }),
      inspect: ({ ts }) => inspector.show(ts),
      inspected: inspector.open ? inspector.ts : undefined,
      complain,
    };
  }, [client, id, go, inspector, complain]);
  const { pane } = state;
  const thread = channel && pane === null && place.thread;
  const classes = [
    (thread || pane) && 'with-thread',
    inspector.open && 'with-inspector',
    edge.open && 'sidebar-open',
  ];
  return (
    <MessageContext value={actions}>
      <div className={['shell', ...classes].filter(Boolean).join(' ')}>
        <Edge
          state={state}
          place={place}
          inspector={inspector}
          open={edge.open}
          onClose={edge.hide}
          onGo={go}
        />
        <MainView
          state={state}
          place={place}
          client={client}
          channel={channel}
          onGo={go}
          onMenu={edge.show}
          complain={complain}
        />
        {pane && (
          <DetailsPane key={`${pane.ts} ${pane.entity.url}`} pane={pane} client={client} onError={complain} />
        )}
        {thread && (
          <ThreadColumn
            key={thread}
            ts={thread}
            channel={channel}
            messages={messages}
            client={client}
            onClose={() => go({ thread: undefined })}
          />
        )}
        {inspector.open && (
          <Inspector
            {...state}
            message={messages.find(({ ts }) => ts === inspector.ts)}
            onClose={inspector.toggle}
          />
        )}
      </div>
    </MessageContext>
  );
}
