/** Who is in a workspace, and where they meet. */

/** A person, a bot or a guest as a workspace knows them. */
export interface Person {
  id: string;
  name: string;
  real_name: string;
  is_admin: boolean;
  is_owner: boolean;
  is_bot: boolean;
  deleted: boolean;
  /** Guests; a single-channel guest is both. */
  is_restricted: boolean;
  is_ultra_restricted: boolean;
  /** IANA zone. */
  tz: string;
  email?: string;
  title?: string;
  /** The workspace they come from, where it is another one. */
  team_id?: string;
  /** Said to be in no channel that the app can see, whatever channels say. */
  stranger?: boolean;
}

/** The word that scopes have for a kind of channel. */
export const SCOPE_WORDS = { public: 'channels', private: 'groups', im: 'im' } as const;

export interface Channel {
  id: string;
  name: string;
  kind: 'public' | 'private' | 'im';
  members: Set<string>;
  archived: boolean;
  topic: string;
  /** The person at the other end of a direct message with the app. */
  user?: string;
  /** The other workspaces that have this channel too. */
  sharedWith: string[];
}

/** Where a stranger comes from, if nothing else is said: a workspace that is simulated no further. */
const ELSEWHERE = 'T0ELSEWHERE';

export interface PersonOptions {
  id: string;
  name?: string;
  real_name?: string;
  is_admin?: boolean;
  is_owner?: boolean;
  is_bot?: boolean;
  deleted?: boolean;
  tz?: string;
  email?: string;
  title?: string;
  /** A guest of one channel, or of several. */
  guest?: 'single' | 'multi';
  /** Somebody of another workspace, whom shared channels brought here. */
  team_id?: string;
  /** Like `team_id`, and in no channel that the app can see: only then Slack says `is_stranger`. */
  stranger?: boolean;
}

export function toPerson(options: PersonOptions): Person {
  const name = options.name ?? options.id.toLowerCase();
  const teamId = options.team_id ?? (options.stranger ? ELSEWHERE : undefined);
  return {
    id: options.id,
    name,
    real_name: options.real_name ?? name,
    is_admin: options.is_admin ?? options.is_owner ?? false,
    is_owner: options.is_owner ?? false,
    is_bot: options.is_bot ?? false,
    deleted: options.deleted ?? false,
    is_restricted: options.guest !== undefined,
    is_ultra_restricted: options.guest === 'single',
    tz: options.tz ?? 'Etc/UTC',
    ...(options.email ? { email: options.email } : {}),
    ...(options.title ? { title: options.title } : {}),
    ...(teamId ? { team_id: teamId } : {}),
    ...(options.stranger ? { stranger: true } : {}),
  };
}
