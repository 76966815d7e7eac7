import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { SlackOauth, Tokens } from '../slack/oauth.ts';
import type { Sealer } from '../store/sealer.ts';
import type { AskTenancy, Collection, Store, Tenancy } from '../store/store.ts';
import { type Installations, installationLock, type OauthInstallations } from './installations.ts';

const Stored = z.object({
  installedAt: z.number(),
  /** Of the token; absent where it stays good. */
  expiresAt: z.number().optional(),
  /** Everything else: tokens, names and people must not be readable in the database. */
  sealed: z.string(),
  teams: z.record(z.string(), z.object({ isGranted: z.boolean(), at: z.number() })).optional(),
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
/** A call that begins now must not outlive its token. */
const REFRESH_BEFORE_MS = 5 * 60_000;

type StoredOf = (workspace: string) => Collection<Stored>;

interface InstallationsParts {
  store: Store;
  sealer: Sealer;
  clock: Clock;
  log: Logger;
  oauth: SlackOauth;
}

/** Many workspaces and organisations, each with its own sealed tokens. */
export function createInstallations(parts: InstallationsParts): Installations {
  const { store, sealer, clock, oauth } = parts;
  const storedOf: StoredOf = (workspace) => store.of(workspace).collection('installations', Stored);

  const seal = (workspace: string, secret: Secret, during?: AskTenancy): Promise<string> =>
    sealer.of(workspace, during).seal(FIELD, JSON.stringify(secret));

  /** A token is asked for with each call. */
  const opened = new TtlCache<Secret>(clock);
  const open = (workspace: string, { sealed }: Stored): Promise<Secret> =>
    opened.get([workspace, sealed], async () =>
      Secret.parse(JSON.parse(await sealer.of(workspace).open(FIELD, sealed))),
    );

  async function secretOf(workspace: string): Promise<Secret | undefined> {
    const doc = await storedOf(workspace).get(ID);
    return doc && open(workspace, doc);
  }

  const isDue = ({ expiresAt }: Stored): boolean =>
    expiresAt !== undefined && expiresAt - clock.now() < REFRESH_BEFORE_MS;

  /** One replica refreshes; the others wait and use its token. */
  function refreshed(workspace: string): Promise<string | undefined> {
    return store.exclusive(`token ${workspace}`, async () => {
      const doc = await storedOf(workspace).get(ID);
      if (doc === undefined) return undefined;
      const secret = await open(workspace, doc);
      const tenancy = await store.tenancy(workspace);
      if (!isDue(doc) || secret.refreshToken === undefined) return secret.token;
      const tokens = await oauth.refresh(secret.refreshToken).catch((error) => stillGood(error, doc));
      if (tokens === undefined) return secret.token;
      await replaceTokens(workspace, doc, secret, tokens, tenancy);
      return tokens.token;
    });
  }

  /** A token that has not expired is used while Slack gives no new one. */
  function stillGood(error: unknown, { expiresAt = 0 }: Stored): undefined {
    if (!isSlackFailure(error)) throw error;
    parts.log.warn(
      { event: 'token_refresh_failed', kind: error.kind, reason: error.reason },
      'a token could not be refreshed',
    );
    if (expiresAt <= clock.now() || error.kind === 'revoked') throw error;
    return undefined;
  }

  async function replaceTokens(
    workspace: string,
    before: Stored,
    secret: Secret,
    { token, refreshToken, expiresAt }: Tokens,
    tenancy: Tenancy | undefined,
  ): Promise<void> {
    const next = { ...secret, token, refreshToken: refreshToken ?? secret.refreshToken };
    const sealed = await seal(workspace, next, tenancy && (async () => tenancy));
    await storedOf(workspace).update(ID, (current) => {
      // Installed again or removed since: that takes precedence.
      if (current?.sealed !== before.sealed) return current;
      return { ...current, sealed, expiresAt };
    });
  }

  return {
    async token(workspace) {
      const doc = await storedOf(workspace).get(ID);
      if (doc === undefined) return undefined;
      if (isDue(doc)) return refreshed(workspace);
      return (await open(workspace, doc)).token;
    },
    installer: async (workspace) => (await secretOf(workspace))?.installer,
    async about(workspace) {
      const doc = await storedOf(workspace).get(ID);
      return doc && { installedAt: doc.installedAt, isRotating: doc.expiresAt !== undefined };
    },
    byOauth: createOauthInstallations(parts, storedOf, seal),
  };
}

/** Installs by OAuth, and what an organisation grants to its teams. */
function createOauthInstallations(
  { store, clock, oauth }: InstallationsParts,
  storedOf: StoredOf,
  seal: (workspace: string, secret: Secret) => Promise<string>,
): OauthInstallations {
  return {
    clientId: oauth.clientId,
    async install(code, redirectUri) {
      const grant = await oauth.exchange(code, redirectUri);
      const { workspace, expiresAt, ...rest } = grant;
      await store.exclusive(installationLock(workspace), async () => {
        const sealed = await seal(workspace, rest);
        await storedOf(workspace).put(ID, { installedAt: clock.now(), sealed, expiresAt });
        await store.beginTenancy(workspace);
      });
      return grant;
    },
    async noteTeams(workspace, teams, isGranted, at) {
      let isNews = false;
      await storedOf(workspace).update(ID, (current) => {
        isNews = false;
        if (current === undefined || at < current.installedAt) return current;
        const fresh = teams.filter((team) => at > (current.teams?.[team]?.at ?? 0));
        isNews = fresh.length > 0;
        const known = Object.fromEntries(fresh.map((team) => [team, { isGranted, at }]));
        return { ...current, teams: { ...current.teams, ...known } };
      });
      return isNews;
    },
  };
}
