import { createHmac, hash, randomBytes } from 'node:crypto';
import {
  type Installation,
  type InstallationStore,
  InstallProvider,
  type InstallURLOptions,
  InvalidStateError,
  type StateStore,
} from '@slack/oauth';
import { z } from 'zod';
import { SlackFailure } from '../core/errors.ts';
import { defined, hashJson, isSameSecret, parseJson } from '../core/json.ts';
import { type Clock, HOUR_MS } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { createNamedFailure } from '../slack/failure.ts';
import { SCOPE_NAMES } from '../slack/scopes.ts';
import { libraryLogger, type Web } from '../slack/web.ts';
import type { Sealer } from '../store/sealer.ts';
import { type Collection, GLOBAL, type Store } from '../store/store.ts';
import {
  type Installations,
  type InstallFault,
  makeInstallationLock,
  type OauthInstallations,
} from '../workspace/installations.ts';

export const Stored = z.object({
  installedAt: z.number(),
  /** Expiry of the token in milliseconds since the epoch; undefined if it does not expire. */
  expiresAt: z.number().optional(),
  /** Everything else, because tokens, names and people must not be readable in the database. */
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
/** The library refreshes a token that has less than two hours left. */
const REFRESH_BEFORE_MS = 2 * HOUR_MS;
/** Delay before the next refresh after a failed one. */
const RETRY_MS = 60_000;
const TIMEOUT_MS = 10_000;

interface InstallationsParts {
  store: Store;
  sealer: Sealer;
  clock: Clock;
  log: Logger;
  web: Pick<Web, 'fetch'>;
  /** Our OAuth client at Slack, with the addresses of Slack for us and for browsers. */
  client: { id: string; secret: string; apiUrl: string; authorizeUrl: string };
  /** Address that Slack sends browsers back to, if it is known. */
  redirectUri?: string | undefined;
}

/** Installations of many workspaces and organisations, each with its own sealed tokens. */
export function createInstallations(parts: InstallationsParts): Installations {
  const { clock } = parts;
  const documents = createDocuments(parts);
  const refreshes = new TtlCache<string | undefined>(clock, RETRY_MS);

  async function readSecret(workspace: string): Promise<Secret | undefined> {
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
    installer: async (workspace) => (await readSecret(workspace))?.installer,
    isInstalled: async (workspace) => (await documents.of(workspace).get(ID)) !== undefined,
    end: async () => undefined,
    async about(workspace) {
      const doc = await documents.of(workspace).get(ID);
      return doc && { installedAt: doc.installedAt, isRotating: doc.expiresAt !== undefined };
    },
    // A workspace without an installation has no token, so its requests fail.
    admit: async () => undefined,
    byOauth: createOauthInstallations(parts, documents),
  };
}

function isDue({ expiresAt }: Stored, clock: Clock): boolean {
  return expiresAt !== undefined && expiresAt - clock.now() < REFRESH_BEFORE_MS;
}

type Documents = ReturnType<typeof createDocuments>;

/** Sealed installations, as our documents and as the library's `InstallationStore`. */
function createDocuments({ store, sealer, clock }: InstallationsParts) {
  const of = (workspace: string): Collection<Stored> =>
    store.of(workspace).collection('installations', Stored);

  /** Each call needs the token. */
  const secrets = new TtlCache<Secret>(clock);
  const open = (workspace: string, { sealed }: Stored): Promise<Secret> =>
    secrets.get([workspace, sealed], async () =>
      Secret.parse(JSON.parse(await sealer.of(workspace).open(FIELD, sealed))),
    );

  const seal = (workspace: string, secret: Secret): Promise<string> =>
    sealer.of(workspace).seal(FIELD, JSON.stringify(secret));

  /** Replaces an earlier installation. */
  async function install(workspace: string, secret: Secret, expiresAt: number | undefined): Promise<void> {
    await store.exclusive(makeInstallationLock(workspace), async () => {
      const sealed = await seal(workspace, secret);
      await of(workspace).put(ID, { installedAt: clock.now(), sealed, expiresAt });
    });
  }

  /** Stores a refreshed token, unless a new installation came first. @param before sealed text of the old token */
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
      return restoreInstallation(workspace, doc, await open(workspace, doc));
    },
  };
  return { of, open, installationStore };
}

/** Makes a new object, because the library changes it. The metadata names the token that a new one replaces. */
function restoreInstallation(
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
 * Reads the parts of an installation that are stored. One for a whole organisation has no team.
 * @throws SlackFailure if a part is missing from Slack's answer
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
    /** Sealed text of the old token, if this is a refresh. */
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

/** Refreshes a token in one replica; the others wait and use it. */
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
    if (token === secret.token) reportRefresh(parts, doc, failure);
    return token;
  });
}

/** Lets the library refresh the token. If it cannot, it returns the old one without the reason. */
async function authorize(parts: InstallationsParts, { installationStore }: Documents, workspace: string) {
  let failure = new SlackFailure(METHOD, 'unreachable', 'request_failed');
  const provider = createProvider(
    parts,
    { installationStore, stateVerification: false },
    async (...request) => {
      const response = await parts.web.fetch(...request);
      failure = readFailure(await response.clone().text(), response.status);
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

function readFailure(body: string, status: number): SlackFailure {
  if (status === 429) return new SlackFailure(METHOD, 'busy', 'ratelimited');
  if (status !== 200) return new SlackFailure(METHOD, 'unreachable', `http_${status}`);
  const refusal = Refusal.safeParse(parseJson(body));
  return createNamedFailure(METHOD, refusal.data?.error ?? body);
}

/** Logs a failed refresh; the old token is used until it expires. @throws SlackFailure if it expires now */
function reportRefresh(
  { clock, log }: InstallationsParts,
  { expiresAt = 0 }: Stored,
  failure: SlackFailure,
): void {
  const { kind, reason } = failure;
  log.warn({ event: 'token_refresh_failed', kind, reason }, 'Token refresh failed');
  // A call that begins now must end before its token does.
  if (kind === 'revoked' || expiresAt - clock.now() <= RETRY_MS) throw failure;
}

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

/** Longest way from our page to Slack and back. */
const STATE_VALID_MS = 10 * 60_000;
/** How long a used state is remembered, so that a page that is loaded again can say so. */
const STATE_REMEMBERED_MS = HOUR_MS;
/** Number of buckets for used states; a hash chooses the bucket, and the newer of two states takes it. */
const USED_BUCKETS = 10_000;

export const UsedState = z.object({
  state: z.string(),
  madeAt: z.number(),
  /** Creation time of the newest state that lost this bucket. It and older ones of the bucket are no longer valid. */
  lostAt: z.number(),
});

export interface InstallStates extends StateStore {
  /** Returns why the state is not valid; undefined if it is. */
  findFault(state: string): Promise<InstallFault | undefined>;
}

/**
 * States with which browsers are sent to Slack. Anybody may request one, so they are not stored: a state is its time and
 * a signature, which every replica can check, also after a restart. Only a state that comes back is stored, so that it
 * works once.
 * @param parts `secret` is shared by all replicas
 * @param options of the install, the same at its begin and end
 */
export function createInstallStates(
  { store, clock, secret }: { store: Store; clock: Clock; secret: string },
  options: InstallURLOptions,
): InstallStates {
  const used = store.of(GLOBAL).collection('install-used', UsedState);
  const sign = (text: string): string =>
    createHmac('sha256', secret).update(`install state ${text}`).digest('base64url');

  /** Creation time in milliseconds since the epoch. Returns undefined if the state is not ours. */
  function madeAt(state: string): number | undefined {
    const [at = '', random = '', signature = ''] = state.split('.');
    const isOurs = isSameSecret(signature, sign(`${at}.${random}`)) && state.split('.').length === 3;
    return isOurs ? Number(at) : undefined;
  }

  async function findFault(state: string): Promise<InstallFault | undefined> {
    const at = madeAt(state);
    if (at === undefined) return 'unknown';
    const bucket = await used.get(findBucket(state));
    if (bucket?.state === hashJson(state)) return 'used';
    return clock.now() - at >= STATE_VALID_MS || at <= (bucket?.lostAt ?? 0) ? 'expired' : undefined;
  }

  /** Marks a state as used if it is valid. */
  function claim(state: string): Promise<InstallFault | undefined> {
    const id = findBucket(state);
    return store.exclusive(`install state ${id}`, async () => {
      const fault = await findFault(state);
      if (fault !== undefined) return fault;
      const { madeAt: before = 0, lostAt = 0 } = (await used.get(id)) ?? {};
      const place = { state: hashJson(state), madeAt: madeAt(state) ?? 0, lostAt: Math.max(before, lostAt) };
      await used.put(id, place, clock.now() + STATE_REMEMBERED_MS);
      return undefined;
    });
  }

  return {
    findFault,
    async generateStateParam() {
      const text = `${clock.now()}.${randomBytes(32).toString('base64url')}`;
      return `${text}.${sign(text)}`;
    },
    /** Uses up a state, whatever becomes of the install. */
    async verifyStateParam(_, state) {
      const fault = await claim(state);
      if (fault !== undefined) throw new InvalidStateError(`The state is ${fault}`);
      return options;
    },
  };
}

function findBucket(state: string): string {
  return String(Number.parseInt(hash('sha256', state).slice(0, 8), 16) % USED_BUCKETS);
}
