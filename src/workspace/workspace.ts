import type { Clock } from '../core/clock.ts';
import type { Settings } from '../core/settings.ts';
import type { FairGate } from '../core/shares.ts';
import type { Engine, WorkspaceJobs } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Pictures } from '../pictures/pictures.ts';
import { type AccountsParts, createAccounts } from '../records/accounts.ts';
import { createAudit } from '../records/audit.ts';
import { createChannels } from '../records/channels.ts';
import { createDigests } from '../records/digests.ts';
import { createIntegrations } from '../records/integrations.ts';
import { accountsChanged } from '../records/schedules.ts';
import { createServiceNames } from '../records/service-names.ts';
import { createTestRuns } from '../records/test-runs.ts';
import { createUserLinks, linkedEmails } from '../records/user-links.ts';
import type { Service } from '../service/client.ts';
import type { Slack } from '../slack/slack.ts';
import type { TokenHealth } from '../slack/token-health.ts';
import type { Sealer } from '../store/sealer.ts';
import {
  type AskTenancy,
  GLOBAL,
  readOnce,
  type Store,
  StoreUnavailable,
  type Tenancy,
  type WorkspaceStore,
} from '../store/store.ts';
import { createChartFiles } from './chart-files.ts';
import { createExplaining } from './explaining.ts';
import { createHome } from './home-refresh.ts';
import { createHostingCatalog } from './hosting-catalog.ts';
import { type AskedTenancy, askTenancy, type Installations, type Tenancies } from './installations.ts';
import type { Asker, LinkRequests } from './link-requests.ts';
import { createNewBlocks, withFallbacks } from './new-blocks.ts';
import { createPendingCommands } from './pending-commands.ts';
import { createProjects, lookOnce } from './projects.ts';
import { createRoles, type RolesParts } from './roles.ts';
import { createSlackPeople } from './slack-people.ts';

/** Everything that is opened once for the process. */
export interface Parts {
  config: Settings;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  store: Store;
  sealer: Sealer;
  engine: Engine;
  service: Service;
  slack: Slack;
  tokenHealth: TokenHealth;
  installations: Installations;
  tracing: Tracing;
  pictures: Pictures;
  polls: FairGate;
  linkRequests: LinkRequests;
  tenancies: Tenancies;
}

/** One workspace: its records, its Slack, its jobs. Nothing here reaches another one. */
export interface Workspace extends ReturnType<typeof openWorkspace> {}

/** The context of every workspace, opened when it is first needed. */
export type Workspaces = ReturnType<typeof createWorkspaces>;

/** The one that was used longest ago is dropped when more are open; each takes some 45 kB. */
const MOST_OPEN = 500;

export function createWorkspaces(parts: Parts) {
  const opened = new Map<string, { workspace: Workspace; asked: AskedTenancy }>();

  /** What is used goes to the end. */
  function find(id: string): { workspace: Workspace; asked: AskedTenancy } | undefined {
    const known = opened.get(id);
    if (known === undefined) return undefined;
    opened.delete(id);
    opened.set(id, known);
    return known;
  }

  function open(id: string, standing?: Tenancy): Workspace {
    const [oldest] = opened.size >= MOST_OPEN ? opened.keys() : [];
    if (oldest !== undefined) opened.delete(oldest);
    const asked = askTenancy(parts.tenancies, id, standing);
    const workspace = openWorkspace(parts, id, id === GLOBAL ? undefined : asked.ask);
    opened.set(id, { workspace, asked });
    return workspace;
  }

  return {
    /** As it was last entered here. */
    open: (id: string) => find(id)?.workspace ?? open(id),
    /**
     * For what has just come in: the context of the installation that stands now. Once that has ended, everything that is
     * written through it is refused with `InstallationEnded`, however late.
     * @param sentIn the tenancy that a job was sent in, which need not be read again where the context is of the same
     */
    async enter(id: string, sentIn?: string): Promise<Workspace> {
      const known = find(id);
      if (id === GLOBAL) return known?.workspace ?? open(id);
      if (sentIn !== undefined && known?.asked.is(sentIn)) return known.workspace;
      try {
        const standing = await parts.tenancies.current(id);
        if (known?.asked.is(standing?.text)) return known.workspace;
        opened.delete(id);
        return open(id, standing);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // The first thing that needs the store says so to the one who asks.
        return known?.workspace ?? open(id);
      }
    },
    /** Drops the context and its caches. */
    forget: (id: string) => void opened.delete(id),
  };
}

function openWorkspace(parts: Parts, id: string, during: AskTenancy | undefined) {
  const { clock, metrics, tracing, service, installations, pictures, config } = parts;
  const log = parts.log.child({ workspace: id });
  const store = parts.store.of(id, during);
  const jobs = jobsOf(parts.engine, id, during);
  const newBlocks = createNewBlocks({ store, clock, log });
  const slack = withFallbacks(parts.slack.of(id), newBlocks);
  const sealer = parts.sealer.of(id, during);
  const home = createHome({ store, jobs, clock, log, slack });
  const shared: RecordParts = {
    sealer,
    service,
    clock,
    people: createSlackPeople({ id, slack, clock, log }),
    installer: () => installations.installer(id),
    onState: async () => {
      await accountsChanged({ jobs, clock });
      await home.refresh();
    },
    onUnreadable: (record) => parts.store.quarantine({ ...record, workspace: id }),
  };
  const records = recordsIn(store, shared);
  const projects = createProjects({ accounts: records.accounts, clock });
  const workspace = {
    /** `enterpriseId ?? teamId` of the installation. */
    id,
    config,
    /** The slash word. */
    word: config.SLACK_COMMAND,
    clock,
    /** Each line carries the workspace. */
    log,
    metrics,
    tracing,
    store,
    sealer,
    jobs,
    slack,
    service,
    pictures,
    /** Where what is polled waits for its turn to ask the service, accounts apart. */
    polls: { enter: (account: string, begin: () => void) => parts.polls.enter(`${id} ${account}`, begin) },
    health: {
      /** Rejects where the store does not answer. */
      store: () => parts.store.ping(),
      /** Rejects where the job engine does not answer. */
      jobs: () => parts.engine.ping(),
      /** The environment's token that Slack refuses. */
      refusedToken: parts.tokenHealth.refused,
    },
    ...records,
    home,
    audit: createAudit({ store, clock, log, onRecord: home.refresh }),
    chartFiles: createChartFiles({ slack, pictures, clock, log }),
    digests: createDigests(store),
    hosting: createHostingCatalog({ accounts: records.accounts, clock }),
    integrations: createIntegrations(store),
    links: {
      ...createUserLinks({ store, sealer, clock }),
      /** Returns the ticket that opens our page in the browser. */
      ask: (asker: Omit<Asker, 'workspace'>) => parts.linkRequests.ask({ workspace: id, ...asker }, during),
    },
    names: createServiceNames({ store, clock }),
    newBlocks,
    pending: createPendingCommands({ store, clock }),
    projects,
    runs: createTestRuns(store, home.refresh),
    /** The same for the length of one request: settings, accounts, roles and projects are read once in it. */
    forRequest: (): Workspace => ({
      ...workspace,
      ...recordsIn(readOnce(store), shared),
      projects: lookOnce(projects),
    }),
    ...createExplaining({ config, clock, log }),
  };
  return workspace;
}

/** What is sent once the tenancy `during` has ended is refused. */
function jobsOf(engine: Engine, workspace: string, during: AskTenancy | undefined): WorkspaceJobs {
  return {
    send: ({ queue }, data, options) => engine.send(queue, { ...data, workspace }, { ...options, during }),
    schedule: (key, { job: { queue }, data, ...times }) =>
      engine.schedule(workspace, key, { ...times, queue, data: { ...data, workspace } }, during),
    unschedule: (key) => engine.unschedule(workspace, key),
  };
}

type RecordParts = Omit<AccountsParts & RolesParts, 'store' | 'linkedEmail'>;

/** What a request reads again and again. @param store may remember what it has read */
function recordsIn(store: WorkspaceStore, parts: RecordParts) {
  const linkedEmail = parts.service.oauth && linkedEmails(store);
  return {
    accounts: createAccounts({ ...parts, store, linkedEmail }),
    channels: createChannels(store),
    roles: createRoles({ ...parts, store }),
  };
}
