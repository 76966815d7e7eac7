import { sendEvent } from './deliver/events.ts';
import { type Person, type PersonOptions, toPerson } from './state/people.ts';
import type { Workspace } from './state/types.ts';
import { userRecord } from './state/user-record.ts';
import { personOf } from './state/workspaces.ts';
import { inBackground, type World } from './world.ts';

/** People come to a workspace and change, each with the event that Slack sends. */

export function addPerson(world: World, workspace: Workspace, options: PersonOptions): Person {
  if (workspace.people.has(options.id)) throw new RangeError(`${options.id} is in ${workspace.id} already`);
  const person = toPerson(options);
  workspace.people.set(person.id, person);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  tell(world, workspace, person, 'team_join');
  return person;
}

export function changePerson(
  world: World,
  workspace: Workspace,
  userId: string,
  change: Partial<Omit<Person, 'id'>>,
): void {
  const person = personOf(workspace, userId);
  Object.assign(person, change);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  tell(world, workspace, person, 'user_change');
}

function tell(world: World, workspace: Workspace, person: Person, type: 'team_join' | 'user_change'): void {
  const scopes = workspace.installation?.scopes ?? [];
  if (!scopes.includes('users:read')) return;
  const options = { email: scopes.includes('users:read.email'), locale: true };
  const user = userRecord(world, workspace, { seat: workspace, person }, options);
  const cache_ts = Math.floor(world.time.wall() / 1000);
  inBackground(world, sendEvent(world, workspace, { type, user, cache_ts }));
}
