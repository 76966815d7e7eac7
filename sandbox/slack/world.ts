import type { WebSocket } from 'ws';
import { type AppOptions, type RegisteredApp, registerApp } from './registered-app.ts';
import { type Changes, createChanges } from './state/changes.ts';
import type { Delivery } from './state/delivery.ts';
import type { Fault } from './state/fault.ts';
import { createTime, type MovableTime } from './state/time.ts';
import type { Json, SlackFile, Workspace } from './state/types.ts';

/** A token and what it may do. Workspace tokens have a team, organisation tokens an enterprise. */
export interface Token {
  token: string;
  kind: 'bot' | 'app' | 'function';
  teamId?: string;
  enterpriseId?: string;
  scopes: string[];
  state: 'active' | 'revoked' | 'inactive';
  /** Milliseconds since the epoch, by the movable clock. */
  expiresAt?: number;
  refreshToken?: string;
  functionRunId?: string;
}

export interface Trigger {
  id: string;
  /** The workspace whose installation may use it. */
  teamId: string;
  /** Where the person is, if not there. */
  seatId: string;
  userId: string;
  issuedAt: number;
  used: boolean;
  /** The view whose element was used, where the trigger came from one. */
  viewId?: string;
  /** The id of the work object whose pane was opened. */
  entityId?: string;
}

/** A response_url: where answers to it go, and what it may still do. */
export interface ResponseTarget {
  path: string;
  teamId: string;
  userId: string;
  channel: string;
  issuedAt: number;
  uses: number;
  /** The message whose element was used. */
  messageTs?: string;
  /** What was posted by it last. */
  answerTs?: string;
}

export interface AuthorizationCode {
  code: string;
  clientId: string;
  redirectUri: string | undefined;
  scopes: string[];
  teamId: string;
  userId: string;
  orgWide: boolean;
  issuedAt: number;
  used: boolean;
}

/** One Web API call as it came in, without any secret. */
export interface ApiCall {
  id: string;
  /** Milliseconds since the epoch, by the wall clock. */
  at: number;
  method: string;
  team: string | undefined;
  args: Json;
  /** HTTP status; 0 where the connection was dropped. */
  status: number;
  ok: boolean;
  error?: string;
  ms: number;
}

/** One connection that the app holds open in Socket Mode. */
export interface SocketLink {
  id: string;
  socket: WebSocket;
  /** Whether Slack has said that it closes it soon. */
  ending: boolean;
  /** Whether what was not acknowledged when it closed is sent over another one. */
  resends: boolean;
  closed: Promise<void>;
}

/** A switch or button that the page of the workspace offers. */
export interface Control {
  id: string;
  label: string;
  kind: 'switch' | 'button';
  /** The heading under which it stands, if any. */
  group?: string;
  on?: boolean;
  hint?: string;
  run(on: boolean): void | Promise<void>;
}

/** Made-up values that a form of the app can be filled with, e.g. those of a demo's account. */
export interface Sample {
  label: string;
  value: string;
}

/** All that one local Slack knows. */
export interface World {
  app: RegisteredApp;
  origin: string;
  requestUrl: string | undefined;
  /** Milliseconds an app has to answer a delivery. */
  ackTimeoutMs: number;
  /** How long a trigger can open a modal. */
  triggerLifeMs: number;
  /** Whether Slack's documented rates are held to. */
  realRates: boolean;
  time: MovableTime;
  changes: Changes;
  workspaces: Map<string, Workspace>;
  tokens: Map<string, Token>;
  triggers: Map<string, Trigger>;
  responseTargets: Map<string, ResponseTarget>;
  codes: Map<string, AuthorizationCode>;
  /** Files that wait for their bytes, by the end of their upload address. */
  uploads: Map<string, SlackFile>;
  deliveries: Delivery[];
  calls: ApiCall[];
  /** How many calls, and how many deliveries, are remembered. */
  longestLog: number;
  faults: Set<Fault>;
  controls: Control[];
  /** By the form's `callback_id`; shown above it. */
  samples: Readonly<Record<string, readonly Sample[]>>;
  /** When each method was called, for the rates. */
  callTimes: Map<string, number[]>;
  /** Work that goes on after an answer: event retries and such. */
  background: Set<Promise<unknown>>;
  /** Socket Mode: open connections, unused tickets with their time, and who waits for which ack. */
  sockets: Set<SocketLink>;
  socketTickets: Map<string, number>;
  socketAcks: Map<string, (body: string) => void>;
  stopping: AbortController;
}

export interface WorldOptions {
  app?: AppOptions;
  now?: () => number;
  ackTimeoutMs?: number;
  triggerLifeMs?: number;
  realRates?: boolean;
  requestUrl?: string;
  longestLog?: number;
  samples?: World['samples'];
}

export function createWorld(options: WorldOptions): World {
  return {
    app: registerApp(options.app),
    origin: '',
    requestUrl: options.requestUrl,
    ackTimeoutMs: options.ackTimeoutMs ?? 3000,
    triggerLifeMs: options.triggerLifeMs ?? 3000,
    realRates: options.realRates ?? false,
    time: createTime(options.now ?? Date.now),
    changes: createChanges(),
    workspaces: new Map(),
    tokens: new Map(),
    triggers: new Map(),
    responseTargets: new Map(),
    codes: new Map(),
    uploads: new Map(),
    deliveries: [],
    calls: [],
    longestLog: options.longestLog ?? 20_000,
    faults: new Set(),
    controls: [],
    samples: options.samples ?? {},
    callTimes: new Map(),
    background: new Set(),
    sockets: new Set(),
    socketTickets: new Map(),
    socketAcks: new Map(),
    stopping: new AbortController(),
  };
}

/** Keeps `work` from being forgotten when the workspace stops. */
export function inBackground(world: World, work: Promise<unknown>): void {
  world.background.add(work);
  void work.finally(() => world.background.delete(work));
}
