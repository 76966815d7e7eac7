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
