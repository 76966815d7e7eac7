import type { Grant } from './oauth.ts';

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

export interface InstallationFacts {
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
