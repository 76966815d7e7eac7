import { type RefObject, useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { type Client, createClient, readWorkspace } from '../api/client.ts';
import { openStream } from '../api/stream.ts';
import type { StreamEvent } from '../api/types.ts';
import { type Place, writePlace } from './place.ts';
import { readSettled } from './read-settled.ts';
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
  const [state, dispatch] = useReducer(reduce, emptyState);
  const [place, go] = usePlace(state.teams);
  const team = place?.team ?? '';
  const user = place?.user ?? '';
  const client = useMemo(() => createClient({ team, user }), [team, user]);
  const channel = place?.at.kind === 'channel' ? place.at.id : undefined;
  const app = place?.at.kind === 'home' ? place.at.app : undefined;

  const reload = useCallback(async () => {
    dispatch({ type: 'loaded', workspace: await readWorkspace() });
  }, []);
  const heard = useRef(0);
  const homesHeard = useRef(0);
  const refresh = useCallback(async () => {
    if (channel !== undefined) await loadMessages(client, channel, heard, dispatch);
    if (app !== undefined) await loadHome(client, app, homesHeard, dispatch);
  }, [client, channel, app]);

  useEffect(() => void reload(), [reload]);
  useStream({ team, user, client, heard, homesHeard, dispatch, reload });
  useEffect(() => {
    dispatch({ type: 'opened', channel });
    if (state.connection === 'live') void refresh();
  }, [channel, refresh, state.connection]);
  return { state, place, client, go };
}

type Dispatch = (change: Change) => void;

interface StreamOptions {
  team: string;
  user: string;
  client: Client;
  /** Counts what the stream brought. */
  heard: RefObject<number>;
  /** Counts the Homes among it. */
  homesHeard: RefObject<number>;
  dispatch: Dispatch;
  reload: () => Promise<void>;
}

function useStream({ team, user, client, heard, homesHeard, dispatch, reload }: StreamOptions): void {
  useEffect(() => {
    if (team === '' || user === '') return;
    dispatch({ type: 'other_eyes' });
    const receive = (event: StreamEvent): void => {
      heard.current += 1;
      if (event.type === 'home') homesHeard.current += 1;
      if (event.type === 'workspace') void reload();
      else if (event.type === 'go')
        location.hash = writePlace({ team, user, at: event.at, thread: event.thread });
      else dispatch(event);
    };
    const open = (): void => {
      dispatch({ type: 'connection', connection: 'live' });
      void reload();
      void loadPerson(client, heard, dispatch);
    };
    const lost = (): void => dispatch({ type: 'connection', connection: 'lost' });
    return openStream({ team, user }, { onEvent: receive, onOpen: open, onLost: lost });
  }, [team, user, client, heard, homesHeard, dispatch, reload]);
}

function loadPerson(client: Client, heard: RefObject<number>, dispatch: Dispatch): Promise<void> {
  const read = () => Promise.all([client.views(), client.deliveries(), client.calls()]);
  return readSettled(heard, read, ([{ views }, { deliveries }, { calls }]) => {
    if (views) dispatch({ type: 'views', views });
    if (deliveries && calls) dispatch({ type: 'log', deliveries, calls });
  });
}

function loadMessages(
  client: Client,
  channel: string,
  heard: RefObject<number>,
  dispatch: Dispatch,
): Promise<void> {
  return readSettled(
    heard,
    () => client.messages(channel),
    ({ messages }) => messages && dispatch({ type: 'messages', channel, messages }),
  );
}

/** What the stream brought meanwhile is newer: an app publishes its Home because this asks for it. */
async function loadHome(
  client: Client,
  app: string,
  homesHeard: RefObject<number>,
  dispatch: Dispatch,
): Promise<void> {
  const before = homesHeard.current;
  const { view } = await client.home(app);
  if (view !== undefined && homesHeard.current === before) dispatch({ type: 'home', app, view });
}
