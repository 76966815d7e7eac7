import type { SandboxClock } from '../clock.ts';
import type { SshKey } from './ids.ts';

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

/** How a check of a repository or a server ends. */
export interface Outcome {
  status: 'ok' | 'error';
  message: string | null;
  durationMs: number | undefined;
}

/** How a whole run ends. A failed run normally has no results. */
export interface RunOutcome {
  status: 'completed' | 'failed';
  withResults: boolean;
  /** The length of the whole run; the sum of its checks when undefined. */
  durationMs: number | undefined;
}

export type ManagedStatus = 'provisioning' | 'active' | 'suspended' | 'disabled' | 'error' | 'destroying';

export interface Website {
  identifier: string;
  subdomain: string;
  spaMode: boolean;
  subdirectory: string | null;
  status: ManagedStatus;
  activeDeployment: string | null;
}

export interface Server {
  identifier: string;
  name: string;
  protocolType: string;
  serverPath: string;
  lastRevision: string | null;
  preferredBranch: string;
  notifyEmail: boolean;
  groupIdentifier: string | null;
  hostname: string;
  port: number;
  username: string;
  useSshKeys: boolean;
  hostKey: string;
  enabled: boolean;
  outcome: Outcome;
  website: Website | undefined;
  /** The hosted resource behind a managed_vps server. */
  hostedResource: string | undefined;
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

export interface BuildConfiguration {
  identifier: string;
  packages: Record<string, string>;
  default: boolean;
  /** Identifiers of servers. */
  servers: string[];
}

export interface Integration {
  identifier: string;
  hookType: string;
  name: string;
  sendOnStart: boolean;
  sendOnCompletion: boolean;
  sendOnFailure: boolean;
  properties: Record<string, string>;
  /** False while a person has still to authorise it in a browser. */
  active: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface TestTarget {
  status: 'ok' | 'error';
  message: string | null;
}

export interface TestRun {
  identifier: string;
  status: 'running' | 'completed' | 'failed';
  /** The one server that is tested; the whole project when undefined. */
  server: string | undefined;
  createdAt: number;
  completedAt: number | null;
  results:
    | { repository: TestTarget | undefined; servers: (TestTarget & { name: string; identifier: string })[] }
    | undefined;
}

export interface Project {
  identifier: string;
  permalink: string;
  name: string;
  publicKey: string;
  repositoryUrl: string | null;
  branch: string;
  zone: string;
  lastDeployedAt: number | null;
  autoDeployUrl: string;
  starred: boolean;
  servers: Server[];
  buildConfigurations: BuildConfiguration[];
  integrations: Integration[];
  testRuns: Map<string, TestRun>;
  repositoryOutcome: Outcome;
  runOutcome: RunOutcome;
}

export interface Deployment {
  identifier: string;
  project: string;
  succeeded: boolean;
  endedAt: number;
  durationMs: number;
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

export interface Provisioning {
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
  createdAt: number;
  trialEndsAt: number;
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
  provisioning: Record<'static_hosting' | 'managed_vps', Provisioning>;
  users: User[];
  projects: Project[];
  hostedResources: HostedResource[];
  deployments: Deployment[];
  events: ActivityEvent[];
  invoices: Invoice[];
}

/** A person known to the identity service, with or without an account. */
export interface Identity {
  email: string;
  password: string;
  twoFactor: boolean;
  failedAttempts: number;
  lockedUntil: number;
}

export interface Mail {
  to: string;
  subject: string;
  link: string;
  at: number;
}

export interface Verification {
  account: string;
  email: string;
  expiresAt: number;
}

export interface OauthClient {
  id: string;
  secret: string;
  name: string;
  redirectUris: string[];
}

export interface Grant {
  client: string;
  email: string;
  scopes: string[];
  accessToken: string;
  createdAt: number;
  revoked: boolean;
}

export interface AuthorisationCode {
  client: string;
  redirectUri: string;
  scopes: string[];
  email: string;
  challenge: string | undefined;
  expiresAt: number;
  /** The access token it was exchanged for. */
  usedFor: string | undefined;
}

/** All state of one service. */
export interface World {
  readonly clock: SandboxClock;
  readonly origin: string;
  readonly sitesDomain: string;
  readonly accounts: Map<string, Account>;
  readonly identities: Map<string, Identity>;
  readonly outbox: Mail[];
  readonly verifications: Map<string, Verification>;
  /** Times of attempts to sign up, by IP address. */
  readonly signupAttempts: Map<string, number[]>;
  readonly bannedIps: Set<string>;
  billingAvailable: boolean;
  readonly clients: Map<string, OauthClient>;
  readonly codes: Map<string, AuthorisationCode>;
  readonly grants: Grant[];
  /** Open hand-over pages of OAuth integrations, by token. */
  readonly handOvers: Map<string, { account: string; project: string; integration: string }>;
  /** Called with each e-mail as it is sent. */
  onMail: ((mail: Mail) => void) | undefined;
}
