import { hash } from 'node:crypto';
import type { InstallProvider, InstallURLOptions } from '@slack/oauth';
import { z } from 'zod';
import { UserError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { TokenHealth } from '../slack/token-health.ts';
import { GLOBAL, type Store } from '../store/store.ts';

/** Where the bot tokens of the workspaces come from. */
export interface Installations {
  /**
   * The workspace's bot token, refreshed where it was about to expire; undefined where Deckhand is not installed.
   * @throws SlackFailure where a refresh fails and the old token has expired
   */
  token(workspace: string): Promise<string | undefined>;
  /** The Slack user who installed Deckhand, where that is known. */
  installer(workspace: string): Promise<string | undefined>;
  /** False from an uninstall until the next install, which brings another token. */
  isInstalled(workspace: string): Promise<boolean>;
  /** Before the workspace is erased: notes that a token of the environment works no more. */
  end(workspace: string): Promise<void>;
  /**
   * When it was installed, milliseconds since the epoch, and whether tokens are replaced every few hours. Undefined where
   * Deckhand is not installed, or by a token of the environment.
   */
  about(workspace: string): Promise<{ installedAt: number; isRotating: boolean } | undefined>;
  /**
   * Whether what names this workspace is for Deckhand at all: with a token of the environment, only what names the one
   * workspace or organisation that Slack says the token is of.
   * @throws NotServed
   */
  admit(workspace: string): Promise<void>;
  /** Undefined where the environment holds the one workspace's token. */
  readonly byOauth: OauthInstallations | undefined;
}

/** What came in is for another installation, or Slack has not said yet which one the token of the environment is of. */
export class NotServed extends UserError {
  /** True where sending it again changes nothing. */
  readonly isForGood: boolean;

  constructor(message: string, isForGood: boolean) {
    super(message);
    this.name = 'NotServed';
    this.isForGood = isForGood;
  }
}

/** Where Slack sends browsers back to. */
export const REDIRECT_PATH = '/slack/oauth_redirect';

/** Why the state of an install does not count. */
export type InstallFault = 'unknown' | 'used' | 'expired';

export interface OauthInstallations {
  /** The library that leads browsers through an install and stores it, with a cookie of this name. */
  provider(stateCookieName: string): InstallProvider;
  /** With which every install begins. */
  readonly options: InstallURLOptions;
  /** Says why a state does not count; undefined if it does. */
  readonly states: { faultOf(state: string): Promise<InstallFault | undefined> };
}

/** @throws NotServed */
async function ownerOf(health: Pick<TokenHealth, 'owner'>): Promise<string | undefined> {
  try {
    return await health.owner();
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    throw error.kind === 'unreachable'
      ? new NotServed('Deckhand cannot reach Slack yet, so nothing was done. Try again in a minute.', false)
      : new NotServed(
          `Slack refuses Deckhand’s token (\`${error.reason}\`), so nothing was done. Who runs Deckhand has to check SLACK_BOT_TOKEN.`,
          false,
        );
  }
}

/** The key of `Store.exclusive` by which installing and erasing a workspace exclude each other, in all replicas. */
export function installationLock(workspace: string): string {
  return `installation ${workspace}`;
}

const Ended = z.object({ at: z.number() });

/** One workspace, one token of the environment. */
export function singleInstallation(
  token: string,
  {
    store,
    clock,
    tokenHealth,
  }: { store: Store; clock: Clock; tokenHealth: Pick<TokenHealth, 'owner' | 'knownOwner'> },
): Installations {
  const ended = store.of(GLOBAL).collection('ended', Ended);
  /** Names neither the workspace nor the token, of which nothing may stay. */
  const markOf = (workspace: string): string =>
    hash('sha256', JSON.stringify([workspace, token]), 'base64url');
  const isAbout = (workspace: string, owner = workspace): boolean => owner === workspace;
  return {
    token: async (workspace) => (isAbout(workspace, await tokenHealth.owner()) ? token : undefined),
    installer: async () => undefined,
    about: async () => undefined,
    isInstalled: async (workspace) =>
      isAbout(workspace, tokenHealth.knownOwner()) && (await ended.get(markOf(workspace))) === undefined,
    end: (workspace) => ended.put(markOf(workspace), { at: clock.now() }),
    async admit(workspace) {
      if (!isAbout(workspace, await ownerOf(tokenHealth)))
        throw new NotServed('Deckhand belongs to another workspace here, so nothing was done.', true);
    },
    byOauth: undefined,
  };
}

/** The page that asks before a link begins. */
export const LINK_START_PATH = '/service/oauth/start';
/** The path that the service sends browsers back to, as it is registered there. */
export const LINK_CALLBACK_PATH = '/service/oauth/callback';

/** The address of that page, with a ticket. */
export function startAddress(publicUrl: string, ticket: string): string {
  return `${addressOf(publicUrl, LINK_START_PATH)}?ticket=${encodeURIComponent(ticket)}`;
}

export function addressOf(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}
