import {
  type Installation,
  type InstallationStore,
  InstallProvider,
  type InstallURLOptions,
} from '@slack/oauth';
import { z } from 'zod';
import { SlackFailure } from '../core/errors.ts';
import { defined, parseJson } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { failureNamed, SCOPE_NAMES } from '../slack/failure.ts';
import { libraryLogger, type Web } from '../slack/web.ts';
import type { Sealer } from '../store/sealer.ts';
import type { Collection, Store } from '../store/store.ts';
import { type Installations, installationLock, type OauthInstallations } from '../workspace/installations.ts';
import { createInstallStates } from './install-states.ts';

const Stored = z.object({
  installedAt: z.number(),
  /** Of the token, in milliseconds since the epoch; absent where it stays good. */
  expiresAt: z.number().optional(),
  /** Everything else: tokens, names and people must not be readable in the database. */
  sealed: z.string(),
});
type Stored = z.infer<typeof Stored>;

const Secret = z.object({
  token: z.string(),
  refreshToken: z.string().optional(),
  name: z.string().optional(),
  isOrganisation: z.boolean(),
  scopes: z.array(z.string()),
  installer: z.string().optional(),
  botUser: z.string().optional(),
});
type Secret = z.infer<typeof Secret>;

const ID = 'installation';
const FIELD = { record: `installations/${ID}`, field: 'installation' };
const METHOD = 'oauth.v2.access';
/** The library asks for a new token when the old one has two hours left. */
const REFRESH_BEFORE_MS = 2 * 3_600_000;
/** Where Slack gives no new token, it is asked again after that time. */
const RETRY_MS = 60_000;
const TIMEOUT_MS = 10_000;

interface InstallationsParts {
  store: Store;
  sealer: Sealer;
  clock: Clock;
  log: Logger;
  web: Pick<Web, 'fetch'>;
  /** Our client at Slack, and the addresses by which browsers and we reach it. */
  client: { id: string; secret: string; apiUrl: string; authorizeUrl: string };
  /** Where Slack sends browsers back to; left out where it is not known. */
  redirectUri?: string | undefined;
}

/** Many workspaces and organisations, each with its own sealed tokens. */
export function createInstallations(parts: InstallationsParts): Installations {
  const { clock } = parts;
  const documents = createDocuments(parts);
  const refreshes = new TtlCache<string | undefined>(clock, RETRY_MS);

  async function secretOf(workspace: string): Promise<Secret | undefined> {
    const doc = await documents.of(workspace).get(ID);
    return doc && documents.open(workspace, doc);
  }

  return {
    async token(workspace) {
      const doc = await documents.of(workspace).get(ID);
      if (doc === undefined) return undefined;
      if (!isDue(doc, clock)) return (await documents.open(workspace, doc)).token;
      return refreshes.get([workspace, doc.sealed], () => refresh(parts, documents, workspace));
    },
    installer: async (workspace) => (await secretOf(workspace))?.installer,
    isInstalled: async (workspace) => (await documents.of(workspace).get(ID)) !== undefined,
    end: async () => undefined,
    async about(workspace) {
      const doc = await documents.of(workspace).get(ID);
      return doc && { installedAt: doc.installedAt, isRotating: doc.expiresAt !== undefined };
    },
    // A workspace without an installation has no tenancy, so nothing of it is carried out.
    admit: async () => undefined,
    byOauth: createOauthInstallations(parts, documents),
  };
}

function isDue({ expiresAt }: Stored, clock: Clock): boolean {
  return expiresAt !== undefined && expiresAt - clock.now() < REFRESH_BEFORE_MS;
}

type Documents = ReturnType<typeof createDocuments>;

/** The sealed installations, as our documents and as the library's `InstallationStore`. */
function createDocuments({ store, sealer, clock }: InstallationsParts) {
  const of = (workspace: string): Collection<Stored> =>
    store.of(workspace).collection('installations', Stored);

  /** A token is asked for with each call. */
  const opened = new TtlCache<Secret>(clock);
  const open = (workspace: string, { sealed }: Stored): Promise<Secret> =>
    opened.get([workspace, sealed], async () =>
      Secret.parse(JSON.parse(await sealer.of(workspace).open(FIELD, sealed))),
    );

  const seal = (workspace: string, secret: Secret): Promise<string> =>
    sealer.of(workspace).seal(FIELD, JSON.stringify(secret));

  /** In place of an earlier installation. */
  async function install(workspace: string, secret: Secret, expiresAt: number | undefined): Promise<void> {
    await store.exclusive(installationLock(workspace), async () => {
      const sealed = await seal(workspace, secret);
      await of(workspace).put(ID, { installedAt: clock.now(), sealed, expiresAt });
    });
  }

  /** Only if the installation is still the one whose token was refreshed: one that came since takes precedence. */
  async function replace(
    workspace: string,
    before: string,
    secret: Secret,
    expiresAt: number | undefined,
  ): Promise<void> {
    if ((await of(workspace).get(ID))?.sealed !== before) return;
    const sealed = await seal(workspace, secret);
    await of(workspace).update(ID, (current) =>
      current?.sealed === before ? { ...current, sealed, expiresAt } : current,
    );
  }

  const installationStore: InstallationStore = {
    async storeInstallation(installation) {
      const { workspace, secret, expiresAt, refreshed } = readInstallation(installation);
      await (refreshed === undefined
        ? install(workspace, secret, expiresAt)
        : replace(workspace, refreshed, secret, expiresAt));
    },
    async fetchInstallation({ enterpriseId, teamId }) {
      const workspace = enterpriseId ?? teamId ?? '';
      const doc = await of(workspace).get(ID);
      if (doc === undefined) throw new SlackFailure(METHOD, 'revoked', 'not_installed');
      return installationOf(workspace, doc, await open(workspace, doc));
    },
  };
  return { of, open, installationStore };
}

/** The library changes what it is given, so all of it is new. The metadata says what a new token takes the place of. */
function installationOf(
  workspace: string,
  { sealed, expiresAt }: Stored,
  secret: Secret,
): Installation<'v2'> {
  const owner = { id: workspace, ...defined({ name: secret.name }) };
  const seconds = expiresAt === undefined ? undefined : Math.floor(expiresAt / 1000);
  return {
    team: secret.isOrganisation ? undefined : owner,
    enterprise: secret.isOrganisation ? owner : undefined,
    isEnterpriseInstall: secret.isOrganisation,
    user: { id: secret.installer ?? '', token: undefined, scopes: undefined },
    bot: {
      id: '',
      userId: secret.botUser ?? '',
      token: secret.token,
      scopes: secret.scopes,
      ...defined({ refreshToken: secret.refreshToken, expiresAt: seconds }),
    },
    authVersion: 'v2',
    metadata: sealed,
  };
}

/**
 * What is stored of an installation. One for a whole organisation has no team.
 * @throws SlackFailure where Slack's answer lacks what we need
 */
export function readInstallation(installation: Installation) {
  const { isEnterpriseInstall, team, enterprise, user, bot, metadata } = installation;
  const isOrganisation = isEnterpriseInstall === true;
  const owner = isOrganisation ? enterprise : (team ?? enterprise);
  if (!bot?.token || !owner?.id) throw new SlackFailure(METHOD, 'rejected', 'unexpected_answer');
  const { token, scopes, refreshToken, expiresAt } = bot;
  const people = { installer: user.id || undefined, botUser: bot.userId || undefined };
  const secret: Secret = {
    token,
    scopes,
    isOrganisation,
    ...defined({ refreshToken, name: owner.name || undefined, ...people }),
  };
  return {
    workspace: owner.id,
    secret,
    expiresAt: expiresAt === undefined ? undefined : expiresAt * 1000,
    /** What was sealed, where the token of an installation was refreshed. */
    refreshed: metadata,
  };
}

function createProvider(
  { client, log, web }: InstallationsParts,
  options: Pick<
    ConstructorParameters<typeof InstallProvider>[0],
    'installationStore' | 'stateStore' | 'stateCookieName' | 'stateVerification'
  >,
  fetch = web.fetch,
): InstallProvider {
  return new InstallProvider({
    ...options,
    clientId: client.id,
    clientSecret: client.secret,
    authorizationUrl: client.authorizeUrl,
    logger: libraryLogger(log, 'slack_oauth'),
    clientOptions: {
      slackApiUrl: client.apiUrl,
      timeout: TIMEOUT_MS,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      fetch,
    },
  });
}

/** One replica refreshes; the others wait and use its token. */
function refresh(
  parts: InstallationsParts,
  documents: Documents,
  workspace: string,
): Promise<string | undefined> {
  return parts.store.exclusive(`token ${workspace}`, async () => {
    const doc = await documents.of(workspace).get(ID);
    if (doc === undefined) return undefined;
    const secret = await documents.open(workspace, doc);
    if (!isDue(doc, parts.clock) || secret.refreshToken === undefined) return secret.token;
    const { token, failure } = await authorize(parts, documents, workspace);
    if (token === secret.token) mayKeep(parts, doc, failure);
    return token;
  });
}

/** The library refreshes the token. Where it cannot, it gives the old one and keeps the reason to itself. */
async function authorize(parts: InstallationsParts, { installationStore }: Documents, workspace: string) {
  let failure = new SlackFailure(METHOD, 'unreachable', 'request_failed');
  const provider = createProvider(
    parts,
    { installationStore, stateVerification: false },
    async (...request) => {
      const response = await parts.web.fetch(...request);
      failure = failureOf(await response.clone().text(), response.status);
      return response;
    },
  );
  const query = { teamId: workspace, enterpriseId: undefined, isEnterpriseInstall: false };
  try {
    return { token: (await provider.authorize(query)).botToken, failure };
  } catch (error) {
    throw error instanceof Error ? (error.cause ?? error) : error;
  }
}

const Refusal = z.object({ error: z.string() });

function failureOf(body: string, status: number): SlackFailure {
  if (status === 429) return new SlackFailure(METHOD, 'busy', 'ratelimited');
  if (status !== 200) return new SlackFailure(METHOD, 'unreachable', `http_${status}`);
  const refusal = Refusal.safeParse(parseJson(body));
  return failureNamed(METHOD, refusal.data?.error ?? body);
}

/** A token that has not expired is used while Slack gives no new one. @throws SlackFailure */
function mayKeep({ clock, log }: InstallationsParts, { expiresAt = 0 }: Stored, failure: SlackFailure): void {
  const { kind, reason } = failure;
  log.warn({ event: 'token_refresh_failed', kind, reason }, 'a token could not be refreshed');
  // A call that begins now must not outlive its token.
  if (kind === 'revoked' || expiresAt - clock.now() <= RETRY_MS) throw failure;
}

/** Installs by OAuth. */
function createOauthInstallations(
  parts: InstallationsParts,
  { installationStore }: Documents,
): OauthInstallations {
  const { client, redirectUri } = parts;
  const options: InstallURLOptions = { scopes: [...SCOPE_NAMES], ...defined({ redirectUri }) };
  const states = createInstallStates({ ...parts, secret: client.secret }, options);
  return {
    options,
    states,
    provider: (stateCookieName) =>
      createProvider(parts, { installationStore, stateStore: states, stateCookieName }),
  };
}
