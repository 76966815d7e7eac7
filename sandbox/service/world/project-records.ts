/** How a check of a repository or a server ends. */
interface Outcome {
  status: 'ok' | 'error';
  message: string | null;
  durationMs: number | undefined;
}

/** How a whole run ends, and how it is spoken of until then. A failed run normally has no results. */
interface RunOutcome {
  /** `completed` or `failed` by the spec; any other word is one that it does not know. */
  status: string;
  withResults: boolean;
  /** What the results hold: the checks as they went, nothing at all, or a repository out of reach and all servers well. */
  results: 'usual' | 'none' | 'repository_unreachable';
  /** The words in place of `running`, one after the other until the end. */
  words: string[];
  /** The time between `created_at` and `completed_at`, whatever the run took; the same when undefined. */
  tookMs: number | undefined;
  /** The length of the whole run; the sum of its checks when undefined. */
  durationMs: number | undefined;
}

export type ManagedStatus = 'provisioning' | 'active' | 'suspended' | 'disabled' | 'error' | 'destroying';

interface Website {
  identifier: string;
  subdomain: string;
  spaMode: boolean;
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
  /** Beyond the specification. Undefined until somebody sends it. */
  sendOnCheckFailed?: boolean | undefined;
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
  /** `running`, `completed` or `failed`, unless the project's runs were given other words. */
  status: string;
  /** The one server that is tested; the whole project when undefined. */
  server: string | undefined;
  createdAt: number;
  completedAt: number | null;
  results:
    | { repository: TestTarget | undefined; servers: (TestTarget & { name: string; identifier: string })[] }
    | undefined;
}

export interface Commit {
  ref: string;
  author: string;
  email: string;
  message: string;
  /** Milliseconds since the epoch. */
  at: number;
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
  /** Commits that no deployment has brought to a server, the latest last, and the look for more. */
  waiting: { commits: Commit[]; checkedAt: number | null; isChecking: boolean; fault: string | null };
}
