/** Where the bot tokens of the workspaces come from. */
export interface Installations {
  /** The workspace's bot token, refreshed where it was about to expire; undefined where Deckhand is not installed. */
  token(workspace: string): Promise<string | undefined>;
  /** The Slack user who installed Deckhand, where that is known. */
  installer(workspace: string): Promise<string | undefined>;
}

/** One workspace, one token of the environment. */
export function singleInstallation(token: string): Installations {
  return { token: async () => token, installer: async () => undefined };
}
