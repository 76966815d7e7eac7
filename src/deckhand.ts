import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Engine } from './engine/engine.ts';
import type { Home } from './home/home.ts';
import type { LinkRequests } from './link/requests.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Pictures } from './scheduler/pictures.ts';
import type { Service } from './service/client.ts';
import type { Installations } from './slack/installations.ts';
import type { Slack } from './slack/slack.ts';
import type { Sealer, Store } from './store/store.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { Accounts } from './workspace/accounts.ts';
import type { Audit } from './workspace/audit.ts';
import type { Channels } from './workspace/channels.ts';
import type { Digests } from './workspace/digests.ts';
import type { Integrations } from './workspace/integrations.ts';
import type { Links } from './workspace/links.ts';
import type { Listings } from './workspace/listings.ts';
import type { Projects } from './workspace/projects.ts';
import type { Roles } from './workspace/roles.ts';
import type { Runs } from './workspace/runs.ts';
import type { Waiting } from './workspace/waiting.ts';

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
  listings: Listings;
  integrations: Integrations;
  roles: Roles;
  audit: Audit;
  digests: Digests;
  pictures: Pictures;
  runs: Runs;
  home: Home;
  waiting: Waiting;
  links: Links;
  linkRequests: LinkRequests;
  /** The bot scopes that the app asks for. */
  scopes: readonly string[];
}
