/** The bot scopes that Deckhand asks for, each with its reason; `manifest.yml` is held equal by a test. */
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
} as const;

/** Needed only where user groups hold roles. */
export const GROUPS_SCOPE = 'usergroups:read';

export const SCOPE_REASONS: Readonly<Record<string, string>> = {
  ...SCOPES,
  [GROUPS_SCOPE]: 'the user groups that hold roles',
};

/** Without one of these nothing works; without any other one, what needs it says so. */
export const REQUIRED_SCOPES: readonly string[] = ['commands', 'chat:write', 'users:read'];

export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPES);
