import type { Json, Person, Workspace } from '../state/types.ts';
import type { World } from '../world.ts';

/** A person in their workspace. */
export interface Someone {
  workspace: Workspace;
  person: Person;
}

/** The parts that interaction payloads have in common. */
export function envelope(world: World, workspace: Workspace, person: Person): Json {
  const { enterprise } = workspace;
  return {
    token: world.app.verificationToken,
    api_app_id: world.app.appId,
    team: {
      id: workspace.id,
      domain: workspace.domain,
      ...(enterprise ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name } : {}),
    },
    user: { id: person.id, username: person.name, name: person.name, team_id: workspace.id },
    enterprise: enterprise ?? null,
    is_enterprise_install: isOrgInstall(workspace),
  };
}

export function isOrgInstall(workspace: Workspace): boolean {
  return workspace.installation?.enterpriseId !== undefined;
}

/** Channels a payload may not name: private ones and direct messages go by a word for their kind. */
export function payloadChannelName(channel: { kind: string; name: string }): string {
  if (channel.kind === 'private') return 'privategroup';
  return channel.kind === 'im' ? 'directmessage' : channel.name;
}
