import type { SlackEvent } from './deliver/events.ts';
import type { DropOptions, RefreshOptions } from './deliver/socket-refresh.ts';
import type { RedeliverOptions } from './deliver/verify.ts';
import type { Actor } from './people.ts';
import type { RegisteredApp } from './registered-app.ts';
import type { Changes, Sight } from './state/changes.ts';
import type { Delivery } from './state/delivery.ts';
import type { Fault } from './state/fault.ts';
import type { Channel, Person, PersonOptions } from './state/people.ts';
import type { ShareOptions } from './state/sharing.ts';
import type {
  FunctionRun,
  Json,
  OpenView,
  Pane,
  Policy,
  SeenMessage,
  SlackFile,
  Workspace,
} from './state/types.ts';
import type { ChannelOptions, WorkspaceOptions } from './state/workspaces.ts';
import type { ApiCall, Control, WorldOptions } from './world.ts';

export interface LocalSlackOptions extends WorldOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  host?: string;
  /** The built page, served at the root. */
  pageDir?: string;
}

/** What a new workspace is known by; tokens and bot are empty while the app is not installed. */
export interface NewWorkspace {
  teamId: string;
  botToken: string;
  botUserId: string;
  botId: string;
}

export interface LocalSlack {
  origin: string;
  /** Web API base, with its slash at the end. */
  apiUrl: string;
  authorizeUrl: string;
  /** host:port, for SLACK_RESPONSE_HOSTS. */
  responseHost: string;
  app: RegisteredApp;
  /** For Socket Mode (`app.socketMode`). */
  appToken: string;
  addWorkspace(options: WorkspaceOptions): NewWorkspace;
  workspace(teamId: string): Workspace;
  /** Where commands, interactions and events go. */
  deliverTo(requestUrl: string | undefined): void;
  /** One person at their client. */
  as(teamId: string, userId: string): Actor;
  /** Takes the pages that are open as this person to a place in them. */
  lead(teamId: string, userId: string, to: Sight): void;
  /** Shows a text in the text field of the pages that are open as this person; nothing is sent. */
  showTyping(teamId: string, userId: string, channel: string, text: string): void;
  /** Messages that stand in a channel for all, oldest first, without thread replies. */
  messages(teamId: string, channel: string): SeenMessage[];
  /** Replies of a thread, oldest first, without the root. */
  thread(teamId: string, channel: string, ts: string): SeenMessage[];
  /** What only this person sees, in all channels, Slack's own notices included. */
  ephemerals(teamId: string, userId: string): SeenMessage[];
  /** The direct message between app and person. */
  dms(teamId: string, userId: string): SeenMessage[];
  /** Open modals, the lowest first. */
  modals(teamId: string, userId: string): OpenView[];
  home(teamId: string, userId: string): OpenView | undefined;
  /** The pane of a work object that the person has open. */
  pane(teamId: string, userId: string): Pane | undefined;
  /** Completed files. */
  files(teamId: string): SlackFile[];
  /** Every Web API call, without tokens. */
  readonly calls: readonly ApiCall[];
  /** Every request to the app. */
  readonly deliveries: readonly Delivery[];
  until: Changes['until'];
  onChange: Changes['subscribe'];
  /** Switches a fault on; the answer switches it off. */
  fault(fault: Fault): () => void;
  clearFaults(): void;
  /** Forbids something in a workspace, or in one channel of it, as its admins would; the answer allows it again. */
  policy(teamId: string, policy: Policy): () => void;
  /** Lets Slack's own deadlines (triggers, response urls, retries, rates) move on by milliseconds. */
  advance(ms: number): void;
  /** Socket Mode: the connections that the app holds open, and which of them Slack is about to close. */
  connections(): { id: string; ending: boolean }[];
  /** Slack renews connections: it warns, and closes them later. */
  refreshConnections(options?: RefreshOptions): void;
  /** Connections end without a word. */
  dropConnections(options?: DropOptions): void;
  /** Sends any event; resolves with its first attempt. */
  sendEvent(teamId: string, event: SlackEvent): Promise<Delivery | undefined>;
  /** Posts Slack's url_verification challenge; true where the app answers it. */
  verifyRequestUrl(): Promise<boolean>;
  /** Sends `ssl_check=1`, without a signature. */
  checkCertificate(): Promise<Delivery>;
  /** Delivers something once more, with or without `X-Slack-Retry-Num`. */
  redeliver(delivery: Delivery, options?: RedeliverOptions): Promise<Delivery>;
  addChannel(teamId: string, channel: ChannelOptions): Channel;
  archiveChannel(teamId: string, channel: string, by?: string): void;
  unarchiveChannel(teamId: string, channel: string, by?: string): void;
  deleteChannel(teamId: string, channel: string): void;
  /** Gives a channel a new id; `channel_id_changed` follows. */
  changeChannelId(teamId: string, channel: string, id: string): void;
  /** Takes a person, or with `bot` the app, into a channel. */
  invite(teamId: string, channel: string, who: string): void;
  kick(teamId: string, channel: string, who: string): void;
  /** Somebody new comes to the workspace: a member, a guest, a stranger, a bot; `team_join` follows. */
  addPerson(teamId: string, person: PersonOptions): Person;
  /** Gives another workspace a channel of this one, with its id, members and messages. */
  shareChannel(teamId: string, channel: string, withTeamId: string, options?: ShareOptions): Channel;
  /** Changes what a person is, e.g. `{ is_admin: false }` or `{ deleted: true }`; `user_change` follows. */
  changePerson(teamId: string, userId: string, change: Partial<Omit<Person, 'id'>>): void;
  /** Installs the app without the OAuth pages; the answer is its bot token. */
  install(teamId: string): string;
  /** Installs the app for a whole organisation; the answer is its bot token. */
  installOrganisation(enterpriseId: string): string;
  changeTeamAccess(teamId: string, granted: boolean): void;
  /** The app is taken out: tokens die, `tokens_revoked` and `app_uninstalled` follow. */
  uninstall(teamId: string): void;
  /** A workflow reaches a step of the app. */
  runFunction(teamId: string, callbackId: string, inputs: Json): FunctionRun;
  functionRun(teamId: string, id: string): FunctionRun | undefined;
  /** The page's switches and buttons. */
  setControls(controls: Control[]): void;
  stop(): Promise<void>;
}
