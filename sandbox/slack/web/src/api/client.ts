import type { Action, OptionList } from '../state/surface.ts';
import type { Call, Container, Control, Delivery, Message, Values, View, Workspace } from './types.ts';

/** Whose eyes the page looks through. */
export interface Who {
  team: string;
  user: string;
}

export interface Answer {
  ok: boolean;
  error?: string;
}

type SubmitAnswer = Answer & { errors?: Record<string, string> };

/** The page's server, spoken to as one person. Failures come back as `{ ok: false, error }`, never thrown. */
export interface Client {
  messages(channel: string): Promise<{ messages?: Message[] }>;
  send(channel: string, text: string, threadTs?: string): Promise<Answer>;
  command(channel: string, command: string, text: string, threadTs?: string): Promise<Answer>;
  act(container: Container, action: Action, values: Values): Promise<Answer>;
  options(
    container: Container,
    blockId: string,
    actionId: string,
    value: string,
  ): Promise<OptionList & Answer>;
  shortcut(callbackId: string, message?: { channel: string; ts: string }): Promise<Answer>;
  home(app: string): Promise<{ view?: View | null }>;
  views(): Promise<{ views?: View[] }>;
  submit(viewId: string, values: Values): Promise<SubmitAnswer>;
  close(viewId: string, all: boolean): Promise<Answer>;
  openPane(channel: string, ts: string, url: string): Promise<Answer>;
  closePane(): Promise<Answer>;
  deliveries(): Promise<{ deliveries?: Delivery[] }>;
  calls(): Promise<{ calls?: Call[] }>;
}

export function createClient(who: Who): Client {
  const read = <T>(path: string, query: Record<string, string> = {}) => get<T>(path, { ...who, ...query });
  const write = <T extends object = Answer>(path: string, body: object) => post<T>(path, { ...who, ...body });
  const inThread = (ts: string | undefined) => (ts === undefined ? {} : { thread_ts: ts });
  return {
    messages: (channel) => read('messages', { channel }),
    send: (channel, text, ts) => write('messages', { channel, text, ...inThread(ts) }),
    command: (channel, command, text, ts) => write('commands', { channel, command, text, ...inThread(ts) }),
    act: (container, action, values) => write('actions', { container, action, state: { values } }),
    options: (container, block_id, action_id, value) =>
      write('options', { container, block_id, action_id, value }),
    shortcut: (callback_id, message) => write('shortcuts', { callback_id, ...message }),
    home: (app) => write('home', { app }),
    views: () => read('views'),
    submit: (view_id, values) => write('views/submit', { view_id, state: { values } }),
    close: (view_id, all) => write('views/close', { view_id, all }),
    openPane: (channel, ts, url) => write('panes', { channel, ts, url }),
    closePane: () => write('panes/close', {}),
    deliveries: () => read('deliveries'),
    calls: () => read('calls'),
  };
}

/** What does not depend on who looks. */
export function readWorkspace(): Promise<Partial<Workspace>> {
  return get('workspace', {});
}

export function switchControl(id: string, on: boolean): Promise<Answer & { controls?: Control[] }> {
  return post('controls', { id, on });
}

/** Where the workspace serves a file's bytes. */
export function fileUrl(id: string): string {
  return `/page/files/${encodeURIComponent(id)}`;
}

async function get<T>(path: string, query: Record<string, string>): Promise<T> {
  return ask(`/page/${path}?${new URLSearchParams(query)}`);
}

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return ask(`/page/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function ask<T>(url: string, init?: RequestInit): Promise<T> {
  try {
    const response = await fetch(url, init);
    return (await response.json()) as T;
  } catch {
    // The caller tells the person, in the same words for a refused and a cut connection.
    return { ok: false, error: 'workspace_unreachable' } as T;
  }
}
