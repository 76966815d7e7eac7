import type { Action, Command, OptionSource, Shortcut, Submission } from '../commands/command.ts';

/** The commands that the configuration allows, and what their messages and modals come back with. */
export type Registry = ReturnType<typeof createRegistry>;

export function createRegistry(commands: readonly Command[], start: string) {
  const actions = new Map<string, { action: Action; command: Command }>();
  const submissions = new Map<string, { submission: Submission; command: Command }>();
  const sources = new Map<string, { source: OptionSource; command: Command }>();
  const shortcuts = new Map<string, { shortcut: Shortcut; command: Command }>();
  for (const command of commands) {
    const {
      actions: own = [],
      submissions: forms = [],
      optionSources = [],
      shortcuts: entries = [],
    } = command;
    for (const action of own) claim(actions, keyOf(action.actionId, action.view), { action, command });
    for (const submission of forms) claim(submissions, submission.callbackId, { submission, command });
    for (const source of optionSources) claim(sources, source.actionId, { source, command });
    for (const shortcut of entries) claim(shortcuts, shortcut.callbackId, { shortcut, command });
  }
  return {
    commands,
    /** What a bare slash word means. */
    start,
    /** `view`: the `callback_id` of the modal that the element stands in. */
    action: (actionId: string, view?: string) =>
      actions.get(keyOf(baseOf(actionId), view)) ?? actions.get(baseOf(actionId)),
    submission: (callbackId: string) => submissions.get(callbackId),
    optionSource: (actionId: string) => sources.get(baseOf(actionId)),
    shortcut: (callbackId: string) => shortcuts.get(callbackId),
  };
}

/** Elements of one kind may stand several times in a message: what follows `#` only distinguishes them. */
function baseOf(actionId: string): string {
  return actionId.split('#')[0] ?? actionId;
}

function keyOf(actionId: string, view: string | undefined): string {
  return view === undefined ? actionId : `${view} ${actionId}`;
}

function claim<T>(map: Map<string, T>, id: string, value: T): void {
  if (map.has(id)) throw new TypeError(`two handlers for ${id}`);
  map.set(id, value);
}
