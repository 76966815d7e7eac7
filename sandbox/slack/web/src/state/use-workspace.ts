import { useCallback, useEffect, useMemo, useReducer, useState } from 'react';
import { type Client, createClient, readWorkspace } from '../api/client.ts';
import { openStream } from '../api/stream.ts';
import type { StreamEvent } from '../api/types.ts';
import { type Place, writePlace } from './place.ts';
import { type Heard, readSettled } from './read-settled.ts';
import { type Change, reduce } from './reducer.ts';
import { emptyState, type State } from './state.ts';
import { usePlace } from './use-place.ts';

export interface WorkspaceModel {
  state: State;
  place: Place | undefined;
  client: Client;
  go: (next: Partial<Place>) => void;
}

/** Reads the workspace, follows its stream, and keeps what is shown in step with the address. */
export function useWorkspace(): WorkspaceModel {
  const [state, dispatch] = useReducer(reduce, emptyState, begin);
  const [place, go] = usePlace(state.teams);
  const team = place?.team ?? '';
  const user = place?.user ?? '';
  const client = useMemo(() => createClient({ team, user }), [team, user]);
  const channel = place?.at.kind === 'channel' ? place.at.id : undefined;
  const app = place?.at.kind === 'home' ? place.at.app : undefined;

  const reload = useCallback(async () => {
    dispatch({ type: 'loaded', workspace: await readWorkspace() });
  }, []);
  const [heard] = useState<Heard>(() => new Map());
  const [visit] = useState<Visit>(() => ({ hasBegun: false }));
  const refresh = useCallback(async () => {
    if (channel !== undefined) await loadMessages(client, channel, heard, dispatch);
    if (app !== undefined) await loadHome(client, app, heard, dispatch);
  }, [client, channel, app, heard]);

  useEffect(() => void reload(), [reload]);
  useStream({ team, user, client, heard, visit, dispatch, reload });
  useEffect(() => {
    dispatch({ type: 'opened', channel });
    if (state.connection === 'live') void refresh();
  }, [channel, refresh, state.connection]);
  return { state, place, client, go };
}

/** The page begins with what is said from now on. */
function begin(state: State): State {
  return { ...state, since: (Date.now() / 1_000).toFixed(6) };
}

type Dispatch = (change: Change) => void;

/** Whether the page has read anything since it was loaded. */
interface Visit {
  hasBegun: boolean;
}

interface StreamOptions {
  team: string;
  user: string;
  client: Client;
  heard: Heard;
  visit: Visit;
  dispatch: Dispatch;
  reload: () => Promise<void>;
}

function useStream({ team, user, client, heard, visit, dispatch, reload }: StreamOptions): void {
  useEffect(() => {
    if (team === '' || user === '') return;
    dispatch({ type: 'other_eyes', user });
    const receive = (event: StreamEvent): void => {
      heard.set(event.type, (heard.get(event.type) ?? 0) + 1);
      if (event.type === 'workspace') void reload();
      else if (event.type === 'go')
        location.hash = writePlace({ team, user, at: event.at, thread: event.thread });
      else dispatch(event);
    };
    const open = (): void => {
      dispatch({ type: 'connection', connection: 'live' });
      void reload();
      void loadPerson(client, heard, visit, dispatch);
    };
    const lost = (): void => dispatch({ type: 'connection', connection: 'lost' });
    return openStream({ team, user }, { onEvent: receive, onOpen: open, onLost: lost });
  }, [team, user, client, heard, visit, dispatch, reload]);
}

async function loadPerson(client: Client, heard: Heard, visit: Visit, dispatch: Dispatch): Promise<void> {
  const type = visit.hasBegun ? 'views' : 'left_open';
  visit.hasBegun = true;
  const readLog = () => Promise.all([client.deliveries(), client.calls()]);
  await Promise.all([
    readSettled(heard, ['views'], client.views, ({ views }) => views && dispatch({ type, views })),
    readSettled(heard, ['delivery', 'call'], readLog, ([{ deliveries }, { calls }]) => {
      if (deliveries && calls) dispatch({ type: 'log', deliveries, calls });
    }),
  ]);
}

function loadMessages(client: Client, channel: string, heard: Heard, dispatch: Dispatch): Promise<void> {
  return readSettled(
    heard,
    ['message', 'message_deleted'],
    () => client.messages(channel),
    ({ messages }) => messages && dispatch({ type: 'messages', channel, messages }),
  );
}

/** What the stream brought meanwhile is newer: an app publishes its Home because this asks for it. */
async function loadHome(client: Client, app: string, heard: Heard, dispatch: Dispatch): Promise<void> {
  const before = heard.get('home');
  const { view } = await client.home(app);
  if (view !== undefined && heard.get('home') === before) dispatch({ type: 'home', app, view });
}
