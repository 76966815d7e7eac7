import type { InstallProvider, InstallURLOptions } from '@slack/oauth';
import { z } from 'zod';
import { UserError } from '../core/errors.ts';
import { trimSlashes } from '../core/http.ts';
import { hashJson } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { TokenHealth } from '../slack/token-health.ts';
import { GLOBAL, type Store } from '../store/store.ts';

export interface Installations {
  /**
   * The workspace's bot token, refreshed if it was about to expire; undefined if Deckhand is not installed.
   * @throws SlackFailure if a refresh fails and the old token has expired
   */
  token(workspace: string): Promise<string | undefined>;
  /** The Slack user who installed Deckhand; undefined if unknown. */
  installer(workspace: string): Promise<string | undefined>;
  /** False from an uninstall until the next install, which has another token. */
  isInstalled(workspace: string): Promise<boolean>;
  /** Call it before the workspace is erased. It marks the environment's token as ended. */
  end(workspace: string): Promise<void>;
  /**
   * The time of the install, milliseconds since the epoch, and whether tokens are replaced every few hours. Undefined if
   * Deckhand is not installed, or by the environment's token.
   */
  about(workspace: string): Promise<{ installedAt: number; isRotating: boolean } | undefined>;
  /**
   * Checks that a request of this workspace is for Deckhand. With the environment's token, only the workspace
   * or organisation that Slack names as its owner is served.
   * @throws NotServed
   */
  admit(workspace: string): Promise<void>;
  /** Undefined if the environment holds the one workspace's token. */
  readonly byOauth: OauthInstallations | undefined;
}

/** A request is for another installation, or Slack has not yet named the owner of the environment's token. */
export class NotServed extends UserError {
  /** True if the same request will always fail. */
  readonly isForGood: boolean;

  constructor(message: string, isForGood: boolean) {
    super(message);
    this.name = 'NotServed';
    this.isForGood = isForGood;
  }
}

/** Slack sends browsers back to this path. */
export const REDIRECT_PATH = '/slack/oauth_redirect';

/** Why the state of an install is invalid. */
export type InstallFault = 'unknown' | 'used' | 'expired';

export interface OauthInstallations {
  /** Slack's library, which leads browsers through an install and stores the result. */
  provider(stateCookieName: string): InstallProvider;
  /** Options of every install. */
  readonly options: InstallURLOptions;
  /** Says why a state is invalid; undefined if it is valid. */
  readonly states: { findFault(state: string): Promise<InstallFault | undefined> };
}

/** @throws NotServed */
async function readOwner(health: Pick<TokenHealth, 'owner'>): Promise<string | undefined> {
  try {
    return await health.owner();
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    throw error.kind === 'unreachable'
      ? new NotServed('Deckhand cannot reach Slack yet, so nothing was done. Try again in a minute.', false)
      : new NotServed(
          `Slack refuses Deckhand’s token (\`${error.reason}\`), so nothing was done. Ask whoever runs Deckhand to check SLACK_BOT_TOKEN.`,
          false,
        );
  }
}

/** Key of `Store.exclusive`. It keeps an install and an erase of a workspace apart, across replicas. */
export function makeInstallationLock(workspace: string): string {
  return `installation ${workspace}`;
}

export const Ended = z.object({ at: z.number() });

/** One workspace, whose token the environment holds. */
export function singleInstallation(
  token: string,
  {
    store,
    clock,
    tokenHealth,
  }: { store: Store; clock: Clock; tokenHealth: Pick<TokenHealth, 'owner' | 'knownOwner'> },
): Installations {
  const ended = store.of(GLOBAL).collection('ended', Ended);
  /** Reveals neither the workspace nor the token, because no trace of them may stay. */
  const makeMark = (workspace: string): string => hashJson([workspace, token]);
  const isAbout = (workspace: string, owner = workspace): boolean => owner === workspace;
  return {
    token: async (workspace) => (isAbout(workspace, await tokenHealth.owner()) ? token : undefined),
    installer: async () => undefined,
    about: async () => undefined,
    isInstalled: async (workspace) =>
      isAbout(workspace, tokenHealth.knownOwner()) && (await ended.get(makeMark(workspace))) === undefined,
    end: (workspace) => ended.put(makeMark(workspace), { at: clock.now() }),
    async admit(workspace) {
      if (!isAbout(workspace, await readOwner(tokenHealth)))
        throw new NotServed('Deckhand belongs to another workspace here, so nothing was done.', true);
    },
    byOauth: undefined,
  };
}

/** Path of the page that asks for a confirmation before a link begins. */
export const LINK_START_PATH = '/service/oauth/start';

/** Address of that page, with a ticket. */
export function makeLinkAddress(publicUrl: string, ticket: string): string {
  return `${makePublicAddress(publicUrl, LINK_START_PATH)}?ticket=${encodeURIComponent(ticket)}`;
}

export function makePublicAddress(publicUrl: string, path: string): string {
  return `${trimSlashes(publicUrl)}${path}`;
}
