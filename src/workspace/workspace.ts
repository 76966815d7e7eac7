import { z } from 'zod';
import type { Settings } from '../config.ts';
import { InstallationEnded } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import { RecentMap, TtlCache } from '../core/ttl-cache.ts';
import type { Engine, JobType, WorkspaceJobs } from '../jobs/jobs.ts';
import { type Logger, logFailure } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Account, type Accounts, createAccounts } from '../records/accounts.ts';
import { createAudit } from '../records/audit-log.ts';
import { createChannels } from '../records/channels.ts';
import { createFeeds } from '../records/feeds.ts';
import { createIntegrations } from '../records/known-integrations.ts';
import { createLedger } from '../records/ledger.ts';
import { createPushes } from '../records/pushes.ts';
import { createSchedules, type FeedPlace } from '../records/schedules.ts';
import { createServiceNames } from '../records/service-people.ts';
import { createTestRuns } from '../records/test-runs.ts';
import { createUserLinks } from '../records/user-links.ts';
import { createWaitingCommands } from '../records/waiting-commands.ts';
import { createPages } from '../service/addresses.ts';
import type { Service } from '../service/client.ts';
import type { Slack, WorkspaceSlack } from '../slack/slack.ts';
import type { TokenHealth } from '../slack/token-health.ts';
import type { Sealer } from '../store/sealer.ts';
import { GLOBAL, type Store, type UnreadableDocument, type WorkspaceStore } from '../store/store.ts';
import { type Explained, explain } from '../views/blocks/failures.ts';
import { createChannelIds, withPresentIds } from './channel-ids.ts';
import { createHome } from './home-refresh.ts';
import { createHookTokens } from './hook-tokens.ts';
import { createHostingCatalog } from './hosting-catalog.ts';
import type { Installations } from './installations.ts';
import { createNewBlocks, withFallbacks } from './new-blocks.ts';
import { createOfferedCalls } from './offered-calls.ts';
import { createOnce, type Once } from './once.ts';
import { createProjects, rememberProjects } from './project-list.ts';
import { rememberDocuments } from './request-memory.ts';
import { createRoles, onlyToMembers } from './role-holders.ts';
import { createServiceDescription } from './service-description.ts';
import { createSharedChannels } from './slack-channels.ts';
import { createSlackPeople } from './slack-people.ts';
import { createWaitingCommits } from './waiting-commits.ts';

/** A person who asks for a link, with the names of the person and the workspace in Slack. */
export const LinkRequest = z.object({
  workspace: z.string(),
  user: z.string(),
  name: z.string(),
  /** Undefined if Slack does not show it. */
  email: z.string().optional(),
  /** True if Slack does not give Deckhand e-mail addresses. */
  lacksScope: z.boolean().optional(),
  workspaceName: z.string().optional(),
});
export interface LinkRequest extends z.infer<typeof LinkRequest> {}

/** Everything that the process opens once. */
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
  linkRequests: { ask(request: LinkRequest): Promise<string> };
  /** Logs and counts a document that cannot be read, or whose seal does not open. */
  onUnreadable: (document: UnreadableDocument) => void;
}

/** Jobs that follow changes of records. The rooms above declare and handle them. */
export interface FollowUps {
  /** Pauses and resumes schedules, after accounts or the allowed commands of a channel changed. */
  accounts: JobType<{ at: number }>;
  /** Handles commands that waited for an account or a claimed name. */
  waiting: JobType<unknown>;
  /** Brings the failures of a channel up to date, after it began or ceased to follow something. */
  failures: JobType<FeedPlace>;
  /** Brings the card of a channel up to date, after what is set up in it changed. */
  cards: JobType<{ channel: string }>;
  /** Publishes App Home again. */
  home: JobType<unknown>;
}

/** One workspace: its records, its Slack, its jobs. Nothing here reaches another workspace. */
export interface Workspace extends ReturnType<typeof openWorkspace> {}

/** The contexts of all workspaces, each opened on first use. */
export type Workspaces = ReturnType<typeof createWorkspaces>;

/** Maximum number of open contexts; the least recently used is closed first. Each takes some 45 kB. */
const MAX_OPEN = 500;
/** Maximum age of the answer for sending a job. Every job checks again before it starts. */
const INSTALLED_MS = 1_000;

export function createWorkspaces(parts: Parts & { followUps: FollowUps }) {
  const opened = new RecentMap<string, Workspace>(MAX_OPEN);
  const installed = new TtlCache<boolean>(parts.clock, INSTALLED_MS);

  function open(id: string): Workspace {
    const maySend = () => installed.get([id], () => isInstalled(parts, id));
    const workspace = opened.get(id) ?? openWorkspace(parts, id, maySend);
    opened.set(id, workspace);
    return workspace;
  }

  return {
    open,
    /** The context for a job; undefined if Deckhand is no longer installed there. */
    async enterInstalled(id: string): Promise<Workspace | undefined> {
      return (await installed.renew([id], () => isInstalled(parts, id))) ? open(id) : undefined;
    },
    /** The context for a request from Slack. @param id the installation that it names @throws NotServed */
    async admit(id: string): Promise<Workspace> {
      if (id !== GLOBAL) await parts.installations.admit(id);
      return open(id).forRequest();
    },
    /** Drops the context and its caches, after an uninstall. */
    forget(id: string): Promise<unknown> {
      opened.delete(id);
      return installed.renew([id], () => isInstalled(parts, id));
    },
  };
}

async function isInstalled({ installations }: Parts, id: string): Promise<boolean> {
  return id === GLOBAL || installations.isInstalled(id);
}

function openWorkspace(parts: Parts & { followUps: FollowUps }, id: string, maySend: () => Promise<boolean>) {
  const { clock, metrics, tracing, service, installations, config } = parts;
  const log = parts.log.child({ workspace: id });
  const store = parts.store.of(id);
  const jobs = createWorkspaceJobs(parts.engine, id, maySend);
  const once = createOnce({ store, clock });
  const { slack, newBlocks, channelIds } = openSlack(parts, id, { ...once, store, log });
  const sealer = parts.sealer.of(id, () => isInstalled(parts, id));
  const following = createFollowUps(parts, jobs);
  const { resumeWaiting, accountsChanged } = following;
  const home = createHome({ ...following, store, clock, log, slack });
  const people = createSlackPeople({ id, slack, clock, log });
  /** Records that nearly every request reads. */
  const openCommon = (documents: Pick<WorkspaceStore, 'collection'>) => ({
    accounts: createAccounts({
      store: documents,
      sealer,
      service,
      clock,
      onState(account) {
        reportRefusedKey(account, { log, metrics });
        return Promise.all([accountsChanged(), resumeWaiting(), home.refresh()]);
      },
      onUnreadable: (document) => parts.onUnreadable({ ...document, workspace: id }),
    }),
    channels: createChannels(documents),
    roles: createRoles({ store: documents, people, clock, installer: () => installations.installer(id) }),
  });
  const common = openCommon(store);
  const schedules = createSchedules(store, following);
  const workspace = {
    /** `enterpriseId ?? teamId` of the installation. */
    id,
    config,
    ...{ word: config.SLACK_COMMAND, pages: createPages(config.SERVICE_BASE_URL) },
    clock,
    /** Each line carries the workspace. */
    log,
    metrics,
    tracing,
    store,
    sealer,
    jobs,
    slack: onlyToMembers(slack, common.roles),
    service,
    ...openOffers(parts, id, { ...common, once, slack }),
    ...common,
    home,
    audit: createAudit({ store, clock, log, onRecord: home.refresh }),
    ...openFeeds(parts, id),
    hosting: createHostingCatalog({ ...common, clock }),
    integrations: createIntegrations(store),
    links: openLinks({ ...parts, store }, id),
    names: createServiceNames({ store, clock, onClaim: resumeWaiting }),
    newBlocks,
    channelIds,
    ...once,
    projects: createProjects({ ...common, schedules, clock }),
    waiting: createWaitingCommands({ store, clock }),
    ...{ schedules, accountsChanged, planCard: following.showCard },
    runs: createTestRuns(store, home.refresh),
    /**
     * For one request, which reads accounts, settings, roles and projects once. Not for work that waits for
     * changes.
     */
    forRequest: (): Workspace => ({
      ...workspace,
      ...openCommon(rememberDocuments(store)),
      projects: rememberProjects(workspace.projects),
    }),
    ...createExplaining({ config, clock, log }),
  };
  return workspace;
}

function openSlack(
  { clock, slack }: Parts,
  id: string,
  { store, log, ...once }: Once & { store: WorkspaceStore; log: Logger },
) {
  const newBlocks = createNewBlocks({ ...once, clock, log });
  const channelIds = createChannelIds({ store, clock });
  const withBlocks = withFallbacks(slack.of(id), newBlocks);
  return { newBlocks, channelIds, slack: withPresentIds(withBlocks, { ids: channelIds, clock }) };
}

/** Changes of so long are shown by one job. */
const CARD_ROUND_MS = 2_000;
/** Time from the last of these changes to the job, by clocks that differ a little. */
const CARD_WAIT_MS = 2_000;

function createFollowUps({ clock, followUps }: { clock: Clock; followUps: FollowUps }, jobs: WorkspaceJobs) {
  return {
    refreshAt: (at: number) => jobs.send(followUps.home, {}, { key: String(at), at }),
    resumeWaiting: async () => void (await jobs.send(followUps.waiting, {})),
    /**
     * Call it after an account was disconnected, or a channel's allowed commands changed. A job then pauses and
     * resumes schedules, also after a kill. Changed keys call it themselves.
     */
    accountsChanged: async () => void (await jobs.send(followUps.accounts, { at: clock.now() })),
    reviewFailures: async (place: FeedPlace) => void (await jobs.send(followUps.failures, place)),
    async showCard(channel: string): Promise<void> {
      // One job for the changes of a few seconds. The request that makes them has mostly shown them by then.
      const round = Math.ceil((clock.now() + 1) / CARD_ROUND_MS);
      const at = round * CARD_ROUND_MS + CARD_WAIT_MS;
      await jobs.send(followUps.cards, { channel }, { key: `${channel} ${round}`, at });
    },
  };
}

function openLinks(
  { store, clock, linkRequests }: Omit<Parts, 'store'> & { store: WorkspaceStore },
  id: string,
) {
  return {
    ...createUserLinks({ store, clock }),
    /** Returns the ticket that opens Deckhand's page in the browser. */
    ask: (linkRequest: Omit<LinkRequest, 'workspace'>) => linkRequests.ask({ workspace: id, ...linkRequest }),
  };
}

/** Counts and logs a key that worked, and that the service now refuses. */
function reportRefusedKey(
  { name, state, isUnreadable = false }: Account,
  { log, metrics }: Pick<Parts, 'log' | 'metrics'>,
): void {
  if (state !== 'broken' || isUnreadable) return;
  metrics.keyRefused();
  log.warn({ event: 'key_refused', account: name }, 'Key refused by the service');
}

function openFeeds({ store, clock }: Parts, workspace: string) {
  const own = store.of(workspace);
  const tokens = createHookTokens(store).of(workspace);
  const ledger = createLedger({ store: own, clock });
  return { ledger, feeds: createFeeds(own), pushes: { ...createPushes(own), tokens } };
}

function openOffers(
  parts: Parts,
  workspace: string,
  { accounts, once, slack }: { accounts: Accounts; once: Once; slack: WorkspaceSlack },
) {
  const description = createServiceDescription(parts);
  const health = { ...createHealth(parts, workspace), description };
  const offered = createOfferedCalls({ accounts, clock: parts.clock, once, description });
  const { clock } = parts;
  return {
    health,
    offered,
    ...createSharedChannels({ slack, clock }),
    ...createWaitingCommits({ offered, clock }),
  };
}

function createHealth({ store, engine, tokenHealth }: Parts, workspace: string) {
  return {
    /** Rejects if the store does not answer. */
    store: () => store.ping(),
    /** Rejects if the job engine does not answer. */
    jobs: () => engine.ping(),
    unreadableJobs: () => engine.unreadable(workspace),
    /** Slack's refusal of the environment's token, if any. */
    refusedToken: tokenHealth.refused,
  };
}

/** Sends no jobs for an installation that has ended. */
function createWorkspaceJobs(
  engine: Engine,
  workspace: string,
  maySend: () => Promise<boolean>,
): WorkspaceJobs {
  return {
    async send(job, data, options) {
      if (!(await maySend())) throw new InstallationEnded();
      return engine.send(workspace, job, data, options);
    },
  };
}

export function createExplaining({ config, clock, log }: { config: Settings; clock: Clock; log: Logger }) {
  const { SLACK_COMMAND: word, SUPPORT_URL: supportUrl, SERVICE_BASE_URL: serviceUrl } = config;
  const explainHere = (error: unknown, newAccount?: string, channel?: string): Explained =>
    explain(error, { word, supportUrl, serviceUrl, now: clock.now(), newAccount, channel });
  return {
    /** Sentence and next step for a failure. `newAccount`: account of a key that is not stored yet. */
    explain: (error: unknown, newAccount?: string) => explainHere(error, newAccount),
    /** Explains a failure and logs it. An unexpected one gets a reference, which the log has too. */
    report: (
      error: unknown,
      fields: { channel?: string | undefined; [name: string]: unknown },
      newAccount?: string,
    ) => ({
      ...explainHere(error, newAccount, fields.channel),
      reference: logFailure(log, error, fields),
    }),
  };
}
