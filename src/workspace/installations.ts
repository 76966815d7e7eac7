import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import type { Grant } from '../slack/oauth.ts';
import { GLOBAL, type Store, type Tenancy } from '../store/store.ts';

/** Where the bot tokens of the workspaces come from. */
export interface Installations {
  /**
   * The workspace's bot token, refreshed where it was about to expire; undefined where Deckhand is not installed.
   * @throws SlackFailure where a refresh fails and the old token has expired
   */
  token(workspace: string): Promise<string | undefined>;
  /** The Slack user who installed Deckhand, where that is known. */
  installer(workspace: string): Promise<string | undefined>;
  /** Undefined where Deckhand is not installed, or by a token of the environment. */
  about(workspace: string): Promise<InstallationFacts | undefined>;
  /** Undefined where the environment holds the one workspace's token. */
  readonly byOauth: OauthInstallations | undefined;
}

interface InstallationFacts {
  /** Milliseconds since the epoch. */
  installedAt: number;
  /** Tokens are replaced every few hours. */
  isRotating: boolean;
}

export interface OauthInstallations {
  clientId: string;
  /**
   * Exchanges the code and stores the installation in place of an earlier one.
   * @throws SlackFailure
   */
  install(code: string, redirectUri: string | undefined): Promise<Grant>;
  /** Records which teams an organisation granted or removed; a later change of a team wins. False if all are old. */
  noteTeams(workspace: string, teams: readonly string[], isGranted: boolean, at: number): Promise<boolean>;
}

/** One workspace, one token of the environment. */
export function singleInstallation(token: string): Installations {
  return {
    token: async () => token,
    installer: async () => undefined,
    about: async () => undefined,
    byOauth: undefined,
  };
}

/** The key of `Store.exclusive` by which installing and erasing a workspace exclude each other, in all replicas. */
export function installationLock(workspace: string): string {
  return `installation ${workspace}`;
}

const Ended = z.object({ at: z.number() });

/**
 * From an install to the uninstall, a workspace has one tenancy that all its writes belong to. Installing over a standing
 * installation goes on with the same one.
 */
export type Tenancies = ReturnType<typeof createTenancies>;

export function createTenancies(parts: { store: Store; installations: Installations; clock: Clock }) {
  const { store, installations, clock } = parts;
  const ended = store.of(GLOBAL).collection('ended', Ended);

  /** Names neither the workspace nor the token, of which nothing may stay. */
  async function markOf(workspace: string): Promise<string> {
    const token = await installations.token(workspace);
    return hash('sha256', JSON.stringify([workspace, token]), 'base64url');
  }

  async function isInstalled(workspace: string): Promise<boolean> {
    if (installations.byOauth !== undefined) return (await installations.about(workspace)) !== undefined;
    return (await ended.get(await markOf(workspace))) === undefined;
  }

  return {
    /** Undefined where Deckhand is not installed. */
    async current(workspace: string): Promise<Tenancy | undefined> {
      const standing = await store.tenancy(workspace);
      if (standing !== undefined || !(await isInstalled(workspace))) return standing;
      // An erase does not come in between.
      return store.exclusive(installationLock(workspace), async () =>
        (await isInstalled(workspace)) ? store.beginTenancy(workspace) : undefined,
      );
    },
    /** Before the workspace is erased: a token of the environment that no longer works begins no other tenancy. */
    async end(workspace: string): Promise<void> {
      if (installations.byOauth !== undefined) return;
      await ended.put(await markOf(workspace), { at: clock.now() });
    },
  };
}

export type AskedTenancy = ReturnType<typeof askTenancy>;

/** The tenancy of a context: the given one, else the one that stands when it is first needed. */
export function askTenancy(tenancies: Tenancies, id: string, given: Tenancy | undefined) {
  let tenancy = given;
  return {
    async ask(): Promise<Tenancy> {
      tenancy ??= await tenancies.current(id);
      if (tenancy === undefined) throw new InstallationEnded();
      return tenancy;
    },
    is: (text: string | undefined) => tenancy?.text === text,
  };
}
