import type { World } from '../world.ts';
import { fillIds } from './fill-ids.ts';
import { digits, newId, secretHex } from './ids.ts';
import type { Json, OpenView, Workspace } from './types.ts';
import { stateOf } from './values.ts';

export type ViewContent = Json & { type: 'modal' | 'home'; blocks: Json[] };

export function stackOf(workspace: Workspace, userId: string): OpenView[] {
  return workspace.stacks.get(userId) ?? [];
}

/** Who has a view before them, and whose installation shows it. */
export interface ViewOwner {
  /** Where the person is. */
  teamId: string;
  installedTeamId: string;
  userId: string;
}

export function createView(owner: ViewOwner, content: ViewContent, previous?: OpenView): OpenView {
  const id = newId('V');
  const blocks = fillIds(content.blocks);
  return {
    id,
    ...owner,
    content: { ...content, blocks },
    values: stateOf(blocks),
    hash: newHash(),
    rootId: previous?.rootId ?? id,
    previousId: previous?.id ?? null,
    externalId: String(content.external_id ?? ''),
    errors: {},
  };
}

/** Opens a modal on top of `under`, or as the only one. */
export function placeView(
  world: World,
  workspace: Workspace,
  view: OpenView,
  under: readonly OpenView[],
): void {
  workspace.stacks.set(view.userId, [...under, view]);
  world.changes.emit({ type: 'views', team: workspace.id, user: view.userId });
}

/** Puts new content into an open view; what the person typed stays where the fields are the same. */
export function replaceContent(world: World, view: OpenView, content: ViewContent): void {
  const blocks = fillIds(content.blocks);
  view.content = { ...content, blocks };
  view.values = stateOf(blocks, view.values);
  view.hash = newHash();
  view.errors = {};
  view.externalId = String(content.external_id ?? '');
  announceView(world, view);
}

export function announceView(world: World, view: OpenView): void {
  const type = view.content.type === 'home' ? 'home' : 'views';
  world.changes.emit({ type, team: view.teamId, user: view.userId });
}

/** Takes modals off the top until `count` are left. */
export function closeDownTo(world: World, workspace: Workspace, userId: string, count: number): OpenView[] {
  const stack = stackOf(workspace, userId);
  const closed = stack.slice(count);
  workspace.stacks.set(userId, stack.slice(0, count));
  if (closed.length > 0) world.changes.emit({ type: 'views', team: workspace.id, user: userId });
  return closed;
}

export function findView(workspace: Workspace, match: (view: OpenView) => boolean): OpenView | undefined {
  return [...workspace.stacks.values(), [...workspace.homes.values()]].flat().find(match);
}

/** A view as the Web API and interaction payloads show it; its team is the person's own. */
export function viewRecord(world: World, workspace: Workspace, view: OpenView): Json {
  const { content } = view;
  const { installation } = world.workspaces.get(view.installedTeamId) ?? workspace;
  const person = workspace.people.get(view.userId);
  const optional = content.type === 'modal' ? { title: null, submit: null, close: null } : {};
  return {
    ...optional,
    ...content,
    id: view.id,
    team_id: person?.team_id ?? workspace.id,
    private_metadata: content.private_metadata ?? '',
    callback_id: content.callback_id ?? '',
    external_id: view.externalId,
    state: { values: view.values },
    hash: view.hash,
    clear_on_close: content.clear_on_close ?? false,
    notify_on_close: content.notify_on_close ?? false,
    previous_view_id: view.previousId,
    root_view_id: view.rootId,
    app_id: world.app.appId,
    app_installed_team_id: installation?.enterpriseId ?? view.installedTeamId,
    bot_id: installation?.botId ?? '',
  };
}

function newHash(): string {
  return `${digits(10)}.${secretHex(4)}`;
}
