import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import type { Engine } from './jobs/jobs.ts';
import type { Logger } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import type { Tracing } from './observability/tracing.ts';
import type { Pictures } from './scheduler/activity/pictures.ts';
import type { Service } from './service/client.ts';
import type { Installations } from './slack/installations.ts';
import type { Slack } from './slack/slack.ts';
import type { Sealer, Store } from './store/store.ts';
import type { Accounts } from './workspace/accounts.ts';
import type { Audit } from './workspace/audit.ts';
import type { Channels } from './workspace/channels.ts';
import type { Digests } from './workspace/digests.ts';
import type { Home } from './workspace/home-refresh.ts';
import type { HostingCatalog } from './workspace/hosting-catalog.ts';
import type { Integrations } from './workspace/integrations.ts';
import type { LinkRequests } from './workspace/link-requests.ts';
import type { PendingCommands } from './workspace/pending-commands.ts';
import type { Projects } from './workspace/projects.ts';
import type { Roles } from './workspace/roles.ts';
import type { TestRuns } from './workspace/test-runs.ts';
import type { UserLinks } from './workspace/user-links.ts';

/** What `main.ts` opens and a test may replace at the wire. */
export interface Parts {
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  store: Store;
  sealer: Sealer;
  engine: Engine;
  service: Service;
  slack: Slack;
  installations: Installations;
  tracing: Tracing;
}

/** Everything a command, job or schedule works with: the parts, and the workspace's records over them. */
export interface Deckhand extends Parts {
  config: Config;
  accounts: Accounts;
  channels: Channels;
  projects: Projects;
  listings: HostingCatalog;
  integrations: Integrations;
  roles: Roles;
  audit: Audit;
  digests: Digests;
  pictures: Pictures;
  runs: TestRuns;
  home: Home;
  waiting: PendingCommands;
  links: UserLinks;
  linkRequests: LinkRequests;
  /** The bot scopes that the app asks for. */
  scopes: readonly string[];
}
