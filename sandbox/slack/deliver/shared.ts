import type { Person } from '../state/people.ts';
import { homeOf, isForeign } from '../state/sharing.ts';
import type { Json, Workspace } from '../state/types.ts';
import type { World } from '../world.ts';

/** A person in their workspace. */
export interface Someone {
  workspace: Workspace;
  person: Person;
}

/**
 * The parts that interaction payloads have in common. In a channel shared with another company `team` is where the app
 * is installed for what was done to a message, and the person's own for what was done in a modal; the person's
 * `team_id` is always their own. An app installed for a whole organisation gets no team.
 */
export function envelope(
  world: World,
  installed: Workspace,
  { workspace, person }: Someone,
  teamOf: 'installation' | 'person' = 'installation',
): Json {
  const home = homeOf(world, workspace, person);
  const { id, domain, enterprise } = teamOf === 'person' ? home : installed;
  const isOrg = isOrgInstall(installed);
  const team = {
    id,
    domain,
    ...(enterprise ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name } : {}),
  };
  return {
    token: world.app.verificationToken,
    api_app_id: world.app.appId,
    team: isOrg ? null : team,
    user: { id: person.id, username: person.name, name: person.name, team_id: home.id },
    enterprise: enterprise ?? null,
    is_enterprise_install: isOrg,
  };
}

/** Whether a slash command or shortcut of the app is there for a person: only where their own company has it. */
export function hasApp(world: World, { workspace, person }: Someone): boolean {
  return workspace.installation !== undefined && !isForeign(world, workspace, { seat: workspace, person });
}

export function isOrgInstall(workspace: Workspace): boolean {
  return workspace.installation?.enterpriseId !== undefined;
}

/** Channels a payload may not name: private ones and direct messages go by a word for their kind. */
export function payloadChannelName(channel: { kind: string; name: string }): string {
  if (channel.kind === 'private') return 'privategroup';
  return channel.kind === 'im' ? 'directmessage' : channel.name;
}
