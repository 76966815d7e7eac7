import type { SandboxClock } from '../clock.ts';
import type { IntegrationRules } from './hook-types.ts';
import type { SshKey } from './ids.ts';
import type { Commit, ManagedStatus, Project } from './project-records.ts';
import type { ChosenWordings } from './signup-wordings.ts';
import type { AuthorisationCode, Grant, Identity, Mail, OauthClient, Verification } from './site-records.ts';

/** What a user may be allowed to do; billing is a flag of its own. */
export const PERMISSIONS = [
  'projects',
  'servers',
  'test_access',
  'build_configurations',
  'integrations',
  'activity',
  'hosting',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface User {
  email: string;
  firstName: string;
  lastName: string;
  /** Undefined once revoked. */
  apiKey: string | undefined;
  role: 'admin' | 'member';
  billing: boolean;
  /** Whether the e-mail address has been verified. */
  verified: boolean;
  permissions: Permission[];
  /** Permalinks of the projects this user sees; all when undefined. */
  projects: string[] | undefined;
}

export interface HostedResource {
  identifier: string;
  name: string;
  region: string;
  size: string;
  status: Exclude<ManagedStatus, 'disabled'>;
  ipAddress: string | null;
  sshKey: SshKey;
  createdAt: number;
  updatedAt: number;
  /** What the hosting provider would say; the service learns it by a sync. */
  provider: { status: Exclude<ManagedStatus, 'disabled'>; ipAddress: string | null };
}

/** `repository`: it cannot be read; `host`: a server refuses; `transfer`: an upload fails. */
export const FAILURE_CAUSES = ['repository', 'build', 'host', 'transfer', 'check'] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

export interface Deployment {
  identifier: string;
  project: string;
  succeeded: boolean;
  endedAt: number;
  durationMs: number;
  deployer: string;
  branch: string;
  startCommit: Commit | undefined;
  endCommit: Commit;
  /** Names of servers. */
  servers: string[];
  /** Undefined if it succeeded. */
  failure:
    | { cause: FailureCause; server: string | undefined; message: string; detail: string | null }
    | undefined;
  /** True if the service no longer has its steps. */
  archived: boolean;
}

export interface ActivityEvent {
  event: string;
  properties: Record<string, unknown>;
  /** Identifier of the project. */
  project: string;
  user: string;
  createdAt: number;
}

export interface Invoice {
  number: number;
  kind: string;
  currency: string;
  /** Decimal amounts as text. */
  total: string;
  vat: string;
  paidAt: number | null;
  createdAt: number;
  /** Only finalised invoices are listed. */
  finalised: boolean;
}

interface Provisioning {
  status: Exclude<ManagedStatus, 'provisioning'>;
  durationMs: number;
}

export interface Account {
  identifier: string;
  /** The subdomain: a slug. */
  name: string;
  displayName: string;
  package: string;
  apiAccess: boolean;
  currency: string;
  /** The IANA zone in which days and weeks begin. */
  zone: string;
  suspended: boolean;
  betaFeatures: boolean;
  sshKey: SshKey;
  /** How many test runs are worked on at once; the rest wait. */
  workers: number;
  waitingRuns: (() => void)[];
  busyWorkers: number;
  /** How many managed servers the plan allows. */
  managedServerLimit: number;
  /** How many managed servers may be made an hour. */
  provisioningLimit: number;
  provisionedAt: number[];
  integrationRules: IntegrationRules;
  provisioning: Record<'static_hosting' | 'managed_vps', Provisioning>;
  users: User[];
  projects: Project[];
  hostedResources: HostedResource[];
  deployments: Deployment[];
  events: ActivityEvent[];
  invoices: Invoice[];
}

/** A call to the address of an `http_req` integration. */
export interface Notification {
  url: string;
  event: string;
  /** What it answered; undefined until then, and if nothing answered. */
  status: number | undefined;
}

/** All state of one service. */
export interface World {
  readonly clock: SandboxClock;
  /** The main site and, by path, all accounts. */
  readonly origin: string;
  /** Where people and applications meet the OAuth server; the main site unless it was given an origin of its own. */
  readonly authOrigin: string;
  /** Whether a callback carries `iss`, as RFC 9207 has it. */
  oauthIss: boolean;
  /** Whether a token answer says whose it is; the spec shows no fields of it. */
  readonly oauthEmail: boolean;
  /** What `/docs.json` shows: what such services publish, every operation that the service has, or nothing. */
  description: 'published' | 'whole' | 'none';
  readonly sitesDomain: string;
  readonly accounts: Map<string, Account>;
  readonly identities: Map<string, Identity>;
  readonly outbox: Mail[];
  readonly verifications: Map<string, Verification>;
  /** Times of attempts to sign up, by IP address. */
  readonly signupAttempts: Map<string, number[]>;
  readonly bannedIps: Set<string>;
  billingAvailable: boolean;
  readonly signupWordings: ChosenWordings;
  readonly clients: Map<string, OauthClient>;
  readonly codes: Map<string, AuthorisationCode>;
  readonly grants: Grant[];
  /** Open hand-over pages of OAuth integrations, by token. */
  readonly handOvers: Map<string, { account: string; project: string; integration: string }>;
  /** The calls to addresses of integrations, in their order. */
  readonly notifications: Notification[];
  /** Called with each e-mail as it is sent. */
  readonly onMail: ((mail: Mail) => void) | undefined;
}
