import { addPerson, changePerson } from './people-acts.ts';
import type { Person, PersonOptions } from './state/people.ts';
import { addPolicy } from './state/policies.ts';
import { type ShareOptions, shareChannel } from './state/sharing.ts';
import type { Json, Policy, Workspace } from './state/types.ts';
import { channelOf, workspaceOf } from './state/workspaces.ts';
import {
  changeTeamAccess,
  deleteChannel,
  installDirectly,
  installForOrganisation,
  invite,
  kick,
  runFunction,
  setArchived,
  uninstall,
} from './workspace-acts.ts';
import type { World } from './world.ts';

/** What happens to a workspace from outside the app. */
export function happenings(world: World) {
  const workspace = (teamId: string): Workspace => workspaceOf(world, teamId);
  return {
    archiveChannel: (team: string, name: string, user = 'USLACKBOT') =>
      setArchived(world, workspace(team), { name, archived: true, user }),
    unarchiveChannel: (team: string, name: string, user = 'USLACKBOT') =>
      setArchived(world, workspace(team), { name, archived: false, user }),
    deleteChannel: (team: string, channel: string) => deleteChannel(world, workspace(team), channel),
    invite: (team: string, channel: string, who: string) => invite(world, workspace(team), channel, who),
    kick: (team: string, channel: string, who: string) => kick(world, workspace(team), channel, who),
    addPerson: (team: string, person: PersonOptions) => addPerson(world, workspace(team), person),
    changePerson: (team: string, userId: string, change: Partial<Omit<Person, 'id'>>) =>
      changePerson(world, workspace(team), userId, change),
    shareChannel: (team: string, channel: string, withTeam: string, options?: ShareOptions) =>
      shareChannel(world, workspace(team), channelOf(workspace(team), channel), workspace(withTeam), options),
    policy: (team: string, policy: Policy) => addPolicy(world, workspace(team), policy),
    install: (team: string) => installDirectly(world, workspace(team)).token,
    installOrganisation: (enterpriseId: string) => installForOrganisation(world, enterpriseId).token,
    changeTeamAccess: (team: string, granted: boolean) => changeTeamAccess(world, workspace(team), granted),
    uninstall: (team: string) => uninstall(world, workspace(team)),
    runFunction: (team: string, callbackId: string, inputs: Json) =>
      runFunction(world, workspace(team), callbackId, inputs),
    functionRun: (team: string, id: string) => workspace(team).functionRuns.get(id),
  };
}
