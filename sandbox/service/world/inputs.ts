import { z } from 'zod';
import { FAILURE_CAUSES, PERMISSIONS } from './records.ts';

/**
 * What the world can be told to hold. The same objects come from tests in the process and, as JSON, over
 * `/_control`. Times are milliseconds since the epoch, durations milliseconds.
 */
const Slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'a slug');
const Key = z.string().length(40);
const Millis = z.number().min(0);

export const NewOutcome = z.strictObject({
  status: z.enum(['ok', 'error']).default('ok'),
  message: z.string().nullable().default(null),
  durationMs: Millis.optional(),
});

export const NewRunOutcome = z.strictObject({
  /** `completed` or `failed`; another word is shown as it is, with `completed_at` set. */
  status: z.string().min(1).default('completed'),
  /** Whether a failed run has results all the same. */
  withResults: z.boolean().default(false),
  /** `none`: it ends without any; `repository_unreachable`: only the repository failed. */
  results: z.enum(['usual', 'none', 'repository_unreachable']).default('usual'),
  /** Words in place of `running`, each for an equal part of the run, e.g. `pending` and `queued`. */
  words: z.array(z.string().min(1)).default([]),
  /** How long the run says that it took, by its two times. */
  tookMs: Millis.optional(),
  /** The length of the whole run; what its checks take when left out. */
  durationMs: Millis.optional(),
});

export const NewUser = z.strictObject({
  email: z.string(),
  firstName: z.string().default('Kim'),
  lastName: z.string().default('Example'),
  /** Made up when left out. */
  apiKey: Key.optional(),
  role: z.enum(['admin', 'member']).default('member'),
  billing: z.boolean().default(false),
  verified: z.boolean().default(true),
  permissions: z.array(z.enum(PERMISSIONS)).default([...PERMISSIONS]),
  projects: z.array(Slug).optional(),
});

export const NewServer = z.strictObject({
  name: z.string(),
  identifier: z.string().optional(),
  protocolType: z.string().default('ssh'),
  serverPath: z.string().default('/var/www/current'),
  lastRevision: z.string().nullable().optional(),
  preferredBranch: z.string().default('main'),
  notifyEmail: z.boolean().default(false),
  groupIdentifier: z.string().nullable().default(null),
  hostname: z.string().optional(),
  port: z.number().int().default(22),
  username: z.string().default('deploy'),
  useSshKeys: z.boolean().default(true),
  hostKey: z.string().optional(),
  enabled: z.boolean().default(true),
  outcome: NewOutcome.prefault({}),
});

export const NewBuildConfiguration = z.strictObject({
  identifier: z.string().optional(),
  packages: z.record(z.string(), z.string()).default({ node: '24' }),
  default: z.boolean().default(true),
  /** Names of servers; all of the project's when left out. */
  servers: z.array(z.string()).optional(),
});

export const NewIntegration = z.strictObject({
  identifier: z.string().optional(),
  hookType: z.string().default('http_req'),
  name: z.string(),
  sendOnStart: z.boolean().default(false),
  sendOnCompletion: z.boolean().default(false),
  sendOnFailure: z.boolean().default(false),
  sendOnCheckFailed: z.boolean().optional(),
  properties: z.record(z.string(), z.string()).default({}),
  active: z.boolean().default(true),
});

export const NewProject = z.strictObject({
  name: z.string(),
  /** From the name when left out. */
  permalink: Slug.optional(),
  identifier: z.string().optional(),
  repositoryUrl: z.string().nullable().optional(),
  branch: z.string().default('main'),
  zone: z.string().default('UTC'),
  starred: z.boolean().default(false),
  servers: z.array(NewServer).default([]),
  buildConfigurations: z.array(NewBuildConfiguration).default([]),
  integrations: z.array(NewIntegration).default([]),
  repositoryOutcome: NewOutcome.prefault({}),
  runOutcome: NewRunOutcome.prefault({}),
});

export const NewHostedResource = z.strictObject({
  name: z.string(),
  identifier: z.string().optional(),
  region: z.string().default('fra1'),
  size: z.string().default('small'),
  status: z.enum(['provisioning', 'active', 'suspended', 'error', 'destroying']).default('active'),
  ipAddress: z.string().nullable().optional(),
  createdAt: Millis.optional(),
});

export const NewCommit = z.strictObject({
  /** Made up from the revision when left out, as the rest is. */
  author: z.string().optional(),
  email: z.string().optional(),
  message: z.string().optional(),
  committedAt: Millis.optional(),
});
export type NewCommit = z.output<typeof NewCommit>;

export const NewDeployment = z.strictObject({
  project: z.string(),
  /** Names of servers; all of the project's when left out. */
  servers: z.array(z.string()).optional(),
  succeeded: z.boolean().default(true),
  /** Now when left out. */
  endedAt: Millis.optional(),
  durationMs: Millis.default(90_000),
  user: z.string().default('Kim Example'),
  endRef: z.string().optional(),
  /** The project's when left out. */
  branch: z.string().optional(),
  commit: NewCommit.prefault({}),
  /** Why it failed; what tests of the project say now, when left out, else an upload. */
  failure: z
    .strictObject({
      cause: z.enum(FAILURE_CAUSES),
      /** Name of the server; the first when left out. */
      server: z.string().optional(),
      /** The error in the step's log. */
      message: z.string().optional(),
      /** Output of the failed command. */
      detail: z.string().nullable().optional(),
    })
    .optional(),
  archived: z.boolean().default(false),
});

export const NewEvent = z.strictObject({
  event: z.string(),
  project: z.string(),
  properties: z.record(z.string(), z.unknown()).default({}),
  user: z.string().default('Kim Example'),
  createdAt: Millis.optional(),
});

export const NewInvoice = z.strictObject({
  /** The next free one when left out. */
  number: z.number().int().positive().optional(),
  kind: z.string().default('subscription'),
  /** The account's when left out. */
  currency: z.string().optional(),
  total: z.string().default('49.00'),
  vat: z.string().default('8.17'),
  paidAt: Millis.nullable().default(null),
  createdAt: Millis.optional(),
  finalised: z.boolean().default(true),
});

export const NewAccount = z.strictObject({
  name: Slug,
  displayName: z.string().optional(),
  package: z.enum(['pro', 'business', 'enterprise']).default('pro'),
  apiAccess: z.boolean().default(true),
  currency: z.string().length(3).toLowerCase().default('usd'),
  zone: z.string().default('UTC'),
  suspended: z.boolean().default(false),
  betaFeatures: z.boolean().default(true),
  workers: z.number().int().positive().default(Number.MAX_SAFE_INTEGER),
  managedServerLimit: z.number().int().min(0).default(100),
  provisioningLimit: z.number().int().min(0).default(100),
  integrationRules: z.enum(['usual', 'documented']).default('usual'),
  users: z.array(NewUser).default([]),
  projects: z.array(NewProject).default([]),
  hostedResources: z.array(NewHostedResource).default([]),
  deployments: z.array(NewDeployment).default([]),
  events: z.array(NewEvent).default([]),
  invoices: z.array(NewInvoice).default([]),
});
