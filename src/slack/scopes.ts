/** The bot scopes that Deckhand asks for, with reasons. A test compares them with `manifest.yml`. */
export const SCOPES = {
  commands: 'the slash command and the shortcuts',
  'app_mentions:read': 'messages that mention Deckhand by name, to answer them',
  'chat:write': 'messages and threads in the channels that it was invited to',
  'files:write': 'PDFs of invoices',
  'im:write': 'direct messages about what a person set up',
  'users:read': 'who is an admin of the workspace, and a person’s time zone',
  'users:read.email': 'the address that the page of `link` shows beside the name',
  'links:read': 'links to projects and servers, to show their state',
  'links:write': 'that state, under the link',
  'channels:read':
    'whether a channel is shared with another organisation, which then reads no log of the service',
  'groups:read': 'the same of private channels',
} as const;

/** Needed only if user groups hold roles or are named by their handle. Optional in the manifest, and not asked for by an install. */
export const GROUPS_SCOPE = 'usergroups:read';

export const SCOPE_REASONS: Readonly<Record<string, string>> = {
  ...SCOPES,
  [GROUPS_SCOPE]: 'the user groups that hold roles or are mentioned',
};

/** Deckhand needs these scopes. Without another scope, only the features that need it fail. */
export const REQUIRED_SCOPES: readonly string[] = ['commands', 'chat:write', 'users:read'];

export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPES);
